// Package locks has the locks of the lesson that are no stages.
package locks

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapters"
)

var errNotHeld = errors.New("lock is not held")

type looksTwice struct {
	rdb        redis.UniversalClient
	key, value string
	lease      time.Duration
}

// LooksTwice makes a lock whose Unlock compares the owner twice before it deletes the key.
var LooksTwice = adapters.Plain(newLooksTwice)

func newLooksTwice(rdb redis.UniversalClient, name string, lease time.Duration) (*looksTwice, error) {
	return &looksTwice{rdb: rdb, key: "lock:" + name, lease: lease}, nil
}

func (l *looksTwice) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	err := l.rdb.Do(ctx, "SET", l.key, value, "NX", "PX", l.lease.Milliseconds()).Err()
	if err == nil {
		l.value = value
	}
	return err == nil, nil
}

func (l *looksTwice) Lock(ctx context.Context) error {
	_, err := l.TryLock(ctx)
	return err
}

func (l *looksTwice) Unlock(ctx context.Context) error {
	for range 2 {
		if value, _ := l.rdb.Get(ctx, l.key).Result(); value != l.value {
			return errNotHeld
		}
	}
	return l.rdb.Del(ctx, l.key).Err()
}
