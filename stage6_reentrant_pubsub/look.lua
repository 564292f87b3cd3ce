-- look
-- Looks whether locks are free.
--
-- KEYS the locks
--
-- Returns for each lock 1 if it is free, or 0.
local free = {}
for i = 1, #KEYS do
	free[i] = redis.call("PTTL", KEYS[i]) == -2 and 1 or 0
end
return free
