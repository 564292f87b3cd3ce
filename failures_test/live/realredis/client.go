package realredis

import (
	"errors"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/world"
)

// NewClient returns a client of the Redis at a Unix socket or host and port. It has go-redis's
// default options, except that context deadlines count and that maintenance notifications are off,
// which no server here supports. The change functions can set more options.
func NewClient(addr string, change ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{
		Network: redisserver.Network(addr), Addr: addr, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, f := range change {
		f(options)
	}
	return redis.NewClient(options)
}

// Lock is a lock with its own client.
type Lock struct {
	world.Locker
	client io.Closer
}

// NewLock returns a lock on the Redis at a Unix socket or host and port. Its client sends each command once,
// because a retried SET NX would be refused because of the key that it wrote.
func NewLock(create world.Constructor, addr, name string, lease time.Duration) (Lock, error) {
	rdb := NewClient(addr, func(o *redis.Options) { o.MaxRetries, o.DialerRetries = -1, 1 })
	locker, err := create(adapters.Using(rdb), name, lease)
	if err != nil {
		err = errors.Join(err, rdb.Close())
	}
	return Lock{locker, rdb}, err
}

// Close closes the lock and its client.
func (l Lock) Close() (err error) {
	if service, ok := l.Locker.(io.Closer); ok {
		err = service.Close()
	}
	return errors.Join(err, l.client.Close())
}
