if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
local n = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if n > 0 then return n end
redis.call('DEL', KEYS[1])
return 0
