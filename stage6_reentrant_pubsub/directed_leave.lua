-- A room no longer waits. If the lock is kept for it, the next one is chosen.
--
-- KEYS[1] the lock
-- ARGV[1] the channel of the lock's waiters
-- ARGV[2] the command that publishes
-- ARGV[3] the room
local chosen = reserved()
redis.call("ZREM", waiters, ARGV[3])
if chosen == ARGV[3] and redis.call("EXISTS", KEYS[1]) == 0 then
	choose()
end
return 1
