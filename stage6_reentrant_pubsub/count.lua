-- count
-- Sets how often the owner holds the lock: one more for a re-entry, one less for
-- a partial unlock. The count is absolute, so that the script may be repeated.
--
-- KEYS[1] the lock: a hash {owner = count}
-- ARGV[1] the owner
-- ARGV[2] the new count
-- ARGV[3] the lease in milliseconds; a longer remaining lease stays
--
-- Returns 1, or 0 if the owner no longer holds the lock.
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	return 0
end
-- PEXPIRE comes first: a full Redis refuses a script whose first write needs
-- memory, and lets this one through.
local lease = math.max(redis.call("PTTL", KEYS[1]), tonumber(ARGV[3]))
if lease > 0 then
	redis.call("PEXPIRE", KEYS[1], lease)
end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return 1
