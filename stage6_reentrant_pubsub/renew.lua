-- renew
-- Gives locks their whole lease again, each only while its owner still holds it.
--
-- KEYS    the locks
-- ARGV[1] the lease in milliseconds
-- ARGV[i+1] the owner of KEYS[i]
--
-- Returns for each lock 1, or 0 if its owner no longer holds it. A key that is
-- not a hash returns 0: it must not fail the locks that are renewed with it.
local renewed = {}
for i, key in ipairs(KEYS) do
	local mine = redis.pcall("HEXISTS", key, ARGV[i + 1])
	if mine == 1 then
		redis.call("PEXPIRE", key, ARGV[1])
		renewed[i] = 1
	else
		renewed[i] = 0
	end
end
return renewed
