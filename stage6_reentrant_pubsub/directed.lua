-- What the scripts with directed wake-ups share. Who waits is a room: those of one
-- process who want the lock. A lock that becomes free goes to the room that has
-- waited longest: it alone is told, and the free lock is kept for it for a moment.
--
-- KEYS[#KEYS] the rooms that wait, a sorted set: {room = since when}, in
--             microseconds. The room that was chosen comes first, with minus the
--             time until when the lock is kept for it.

local waiters = KEYS[#KEYS]
local reservation = 60 -- milliseconds

local function now()
	local time = redis.call("TIME")
	return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- reserved returns the room for which the lock is kept, and for how many
-- milliseconds still; nil if it is kept for none. A server's clock may jump: more
-- than the whole time cannot be left.
local function reserved()
	local first = redis.call("ZRANGE", waiters, 0, 0, "WITHSCORES")
	if not first[1] or tonumber(first[2]) >= 0 then
		return nil
	end
	local left = math.ceil((-tonumber(first[2]) - now()) / 1000)
	if left <= 0 or left > reservation then
		return nil
	end
	return first[1], left
end

-- tell returns whether somebody heard it.
local function tell(room, word)
	return redis.call(ARGV[2], ARGV[1] .. ":" .. room, word) > 0
end

-- choose keeps the lock for the room that has waited longest, and tells the one
-- after it to look whether it came. A room that hears nothing has gone; so has one
-- that was chosen before and did not come.
local function choose()
	while true do
		local oldest = redis.call("ZPOPMIN", waiters)
		if not oldest[1] then
			return
		end
		if tonumber(oldest[2]) >= 0 and tell(oldest[1], "chosen") then
			redis.call("ZADD", waiters, string.format("%.0f", -(now() + reservation * 1000)), oldest[1])
			break
		end
	end
	while true do
		local deputy = redis.call("ZRANGE", waiters, 1, 1)
		if not deputy[1] or tell(deputy[1], tostring(reservation)) then
			return
		end
		redis.call("ZREM", waiters, deputy[1])
	end
end
