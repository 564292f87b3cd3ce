-- acquire
-- Takes the lock for a new owner if it is free. An owner asks only once.
--
-- KEYS[1] the lock: a hash {owner = count}
-- KEYS[2] the last fencing token
-- ARGV[1] the owner
-- ARGV[2] the lease in milliseconds
--
-- Returns the fencing token, which is positive. If another owner holds the
-- lock, returns -2 minus the milliseconds that its lease has left (-1: no lease).
-- A key that is no lock is an error.
local left = redis.call("PTTL", KEYS[1])
if left ~= -2 then
	local fields = redis.call("HLEN", KEYS[1]) -- an error for a key of another type
	local lock = fields == 1 and redis.pcall("HGETALL", KEYS[1]) or {"", ""}
	if not lock.err and not (string.find(lock[1], ".:%d+$") and string.find(lock[2], "^[1-9]%d*$")) then
		return {err = "WRONGTYPE Operation against a key holding the wrong kind of value"}
	end
	return -2 - left
end
local last = redis.call("GET", KEYS[2]) or "0"
local number = string.find(last, "^%d+$") and tonumber(last) or 1 / 0
if number >= 9007199254740991 then -- Lua counts no further: two holds would get the same token
	return {err = "BADTOKEN the fencing token in Redis cannot be right: delete its key"}
end
-- With the clock, tokens still rise when Redis has lost the last one: after a failover, an
-- eviction or a flush. That is why the last token may be forgotten after an hour.
local time = redis.call("TIME")
local token = math.max(number + 1, time[1] * 1000000 + time[2])
redis.call("SET", KEYS[2], token, "PX", 3600000)
-- Fails before the key is written, if the user may not set a lease.
redis.call("PEXPIRE", KEYS[1], ARGV[2])
redis.call("HSET", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return token
