-- release
-- Frees the lock and wakes its waiters.
--
-- KEYS[1] the lock: a hash {owner = count}
-- ARGV[1] the channel of the lock's waiters. It is not a key: a slot of a Cluster
--         that migrates would refuse a script with a key that does not exist.
-- ARGV[2] the owner
--
-- Returns 1, or 0 if the owner no longer holds the lock.
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
	return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
