package locks

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	stage4 "lockkata/stage4_lua_unlock"
)

// Waiter returns the constructor of stage 4 with a message. Its Lock takes some steps in an order. Then it waits for
// the message, or for as long as a lease, and tries again. The steps are 1: subscribe, 2: wait for the
// acknowledgement, 3: TryLock. Inlined, it would make its caller's package compile the types of go-redis.
//
//go:noinline
func Waiter(order string) world.Constructor {
	return adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (*waiter, error) {
		m, err := stage4.NewMutex(rdb, name, lease)
		return &waiter{m, rdb, "lock:" + name, order, lease}, err
	})
}

type waiter struct {
	*stage4.Mutex
	rdb        redis.UniversalClient
	key, order string
	lease      time.Duration
}

func (l *waiter) Lock(ctx context.Context) (err error) {
	sub, held := l.rdb.Subscribe(ctx), false
	defer sub.Close()
	for _, step := range l.order {
		switch step {
		case '1':
			err = sub.Subscribe(ctx, l.key)
		case '2':
			_, err = sub.Receive(ctx)
		case '3':
			held, err = l.TryLock(ctx)
		}
		if err != nil || held {
			return err
		}
	}
	messages := sub.Channel(redis.WithChannelHealthCheckInterval(0))
	for err == nil && !held {
		select {
		case <-messages:
		case <-time.After(l.lease):
		case <-ctx.Done():
			return ctx.Err()
		}
		held, err = l.TryLock(ctx)
	}
	return err
}

func (l *waiter) Unlock(ctx context.Context) error {
	if err := l.Mutex.Unlock(ctx); err != nil {
		return err
	}
	return l.rdb.Publish(ctx, l.key, "").Err()
}
