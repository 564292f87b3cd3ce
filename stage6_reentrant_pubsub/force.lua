-- force
-- Frees the lock whoever holds it, and wakes those who wait for it.
--
-- KEYS[1] the lock
-- ARGV[1] the channel of the lock's waiters
--
-- Returns 1, or 0 if nobody held the lock. A key that is no hash is no lock: it is
-- an error, and stays.
if redis.call("HLEN", KEYS[1]) == 0 then
	return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
