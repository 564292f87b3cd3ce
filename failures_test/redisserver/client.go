package redisserver

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// NewClient is a connection pool to the Redis at a Unix socket or a host and port,
// with go-redis's own options but for two: the deadline of a context counts, and no
// maintenance is asked for, which no server here knows. The others are for change.
func NewClient(addr string, change ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{
		Network: Network(addr), Addr: addr, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, f := range change {
		f(options)
	}
	return redis.NewClient(options)
}
