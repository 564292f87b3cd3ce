-- Takes the lock unless it is kept for another room, and notes who waits.
--
-- ARGV[4] the room that asks; "" if nobody there waits
-- ARGV[5] 1 if others wait in that room, who have to be told when this hold ends
-- ARGV[6] how long rooms are remembered, in milliseconds
--
-- Returns what acquire does. While the lock is kept for another room only the
-- room next to it is told for how long.
local room, others = ARGV[4], ARGV[5]

local function wait()
	if room == "" then
		return
	end
	local since = redis.call("ZSCORE", waiters, room)
	if not since or tonumber(since) < 0 then
		redis.call("ZADD", waiters, string.format("%.0f", now()), room)
	end
	redis.call("PEXPIRE", waiters, ARGV[6])
end

local chosen, left = reserved()
if chosen and chosen ~= room and redis.call("EXISTS", KEYS[1]) == 0 then
	wait()
	if redis.call("ZRANK", waiters, room) ~= 1 then
		left = ARGV[2]
	end
	return -2 - left
end
local answer = acquire()
if answer < 0 then
	wait()
elseif room ~= "" then
	redis.call("ZREM", waiters, room)
	if others == "1" then
		wait()
	end
end
return answer
