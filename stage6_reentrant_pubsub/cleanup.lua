-- cleanup
-- Frees locks that nobody uses, each only if its owner holds it, and wakes their waiters.
--
-- KEYS       the locks
-- ARGV[2i-1] the channel of the waiters of KEYS[i]
-- ARGV[2i]   the owner
--
-- Returns for each lock 1, or 0 if the owner does not hold it. A key that is no hash
-- returns 0: it must not fail the others.
local freed = {}
for i = 1, #KEYS do
	local held = redis.pcall("HEXISTS", KEYS[i], ARGV[2 * i])
	if held == 1 then
		redis.call("DEL", KEYS[i])
		redis.call("PUBLISH", ARGV[2 * i - 1], "0")
	elseif held ~= 0 and not string.find(held.err, "WRONGTYPE") then
		return held
	end
	freed[i] = held == 1 and 1 or 0
end
return freed
