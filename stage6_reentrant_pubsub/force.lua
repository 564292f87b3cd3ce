-- force
-- Frees the lock, whichever client holds it, and wakes its waiters.
--
-- KEYS[1] the lock
-- ARGV[1] the channel of the lock's waiters
--
-- Returns 1, or 0 if the lock was free. A key that is no lock, as in acquire.lua, is an
-- error, and stays.
local fields = redis.call("HLEN", KEYS[1])
if fields == 0 then
	return 0
end
local lock = fields == 1 and redis.pcall("HGETALL", KEYS[1]) or {"", ""}
if not lock.err and not (string.find(lock[1], ".:%d+$") and string.find(lock[2], "^[1-9]%d*$")) then
	return {err = "WRONGTYPE Operation against a key holding the wrong kind of value"}
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
