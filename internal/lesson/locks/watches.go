package locks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapters"
)

// Watches makes a lock whose Unlock is a transaction.
var Watches = adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (watches, error) {
	l, err := newLooksTwice(rdb, name, lease)
	return watches{l}, err
})

type watches struct{ *looksTwice }

func (l watches) Unlock(ctx context.Context) error {
	return l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		if value, _ := tx.Get(ctx, l.key).Result(); value != l.value {
			return errNotHeld
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, l.key).Err() })
		if errors.Is(err, redis.TxFailedErr) {
			return errNotHeld
		}
		return err
	}, l.key)
}
