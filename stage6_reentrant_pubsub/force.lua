-- force
-- Frees the lock, whichever client holds it, and wakes its waiters.
--
-- KEYS[1] the lock
-- ARGV[1] the channel of the lock's waiters
--
-- Returns 1, or 0 if the lock was free. A key that is not a hash is not a lock: it
-- is an error, and the key stays.
if redis.call("HLEN", KEYS[1]) == 0 then
	return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
