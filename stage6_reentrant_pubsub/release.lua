-- release
-- Frees the lock and wakes its waiters.
--
-- KEYS[1] the lock: a hash {owner = count}
-- KEYS[2] the last fencing token; only after a try that was not answered, as a slot of a
--         Cluster that migrates refuses a script with a key that does not exist
-- ARGV[1] the channel of the lock's waiters
-- ARGV[2] the owner
-- ARGV[3] its fencing token
--
-- Returns 1, or 0 if the owner no longer holds the lock. With KEYS[2] it also returns 1
-- if no other owner has come after this one: the try before has freed the lock.
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
	return KEYS[2] and redis.call("GET", KEYS[2]) == ARGV[3] and 1 or 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
