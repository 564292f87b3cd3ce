package live

import (
	"errors"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/live/redisserver"
)

// Lock is a lock with its own client.
type Lock struct {
	failures.Locker
	client io.Closer
}

// NewLock returns a lock on the Redis at a Unix socket or host and port. Its client sends each command once,
// because a retried SET NX would be refused because of the key that it wrote.
func NewLock(s failures.Subject, addr, name string, lease time.Duration) (Lock, error) {
	rdb := redisserver.NewClient(addr, func(o *redis.Options) { o.MaxRetries, o.DialerRetries = -1, 1 })
	locker, err := s.New(adapters.Using(rdb), name, lease)
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
