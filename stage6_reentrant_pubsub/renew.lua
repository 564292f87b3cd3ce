-- renew
-- Gives locks their whole lease again, each only while its owner still holds it.
--
-- KEYS      the locks
-- ARGV[2i-1] the owner of KEYS[i]
-- ARGV[2i]  its lease in milliseconds; 0: it keeps the lease that it has
--
-- Returns for each lock 1, or 0 if its owner no longer holds it. A key that is
-- not a hash returns 0: it must not fail the locks that are renewed with it.
-- Some proxies and clouds refuse a script whose keys are not written as KEYS[i].
local renewed = {}
for i = 1, #KEYS do
	local held = redis.pcall("HEXISTS", KEYS[i], ARGV[2 * i - 1])
	if held == 1 and tonumber(ARGV[2 * i]) > 0 then
		redis.call("PEXPIRE", KEYS[i], ARGV[2 * i])
	elseif held ~= 1 and held ~= 0 and not string.find(held.err, "WRONGTYPE") then
		return held
	end
	renewed[i] = held == 1 and 1 or 0
end
return renewed
