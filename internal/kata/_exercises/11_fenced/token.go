package mylock

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// acquireScript takes the lock if it is free, and gives the hold a fencing token.
// The token is at least the server's clock in microseconds, so it rises also where
// the counter was lost.
//
// KEYS[1] the lock's key
// KEYS[2] the last token
// ARGV[1] the owner's value
// ARGV[2] the lease in milliseconds
//
// Returns the token, or 0 if somebody else holds the lock.
var acquireScript = redis.NewScript(`-- acquire
if not redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return 0
end
local time = redis.call("TIME")
local last = tonumber(redis.call("GET", KEYS[2]) or "0")
local token = math.max(last + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
redis.call("SET", KEYS[2], string.format("%.0f", token))
return token
`)

// Token is the fencing token of the present hold, 0 while nothing is held. Write
// it with everything that the lock protects: the resource refuses a lower one.
func (m *Mutex) Token(context.Context) int64 { return m.token }
