package locks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapters"
)

// Forgets makes a lock that keeps a new value before Redis has accepted it.
var Forgets = adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (forgets, error) {
	l, err := newLooksTwice(rdb, name, lease)
	return forgets{l}, err
})

type forgets struct{ *looksTwice }

func (l forgets) TryLock(ctx context.Context) (bool, error) {
	l.value = uuid.NewString()
	err := l.rdb.Do(ctx, "SET", l.key, l.value, "NX", "PX", l.lease.Milliseconds()).Err()
	return err == nil, nil
}

func (l forgets) Unlock(ctx context.Context) error {
	deleted, err := l.rdb.Eval(ctx, `-- unlock
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`, []string{l.key}, l.value).Int()
	if err == nil && deleted == 0 {
		return errNotHeld
	}
	return err
}
