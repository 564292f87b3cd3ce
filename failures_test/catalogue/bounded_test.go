package catalogue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// kept is a lock that never becomes free: its key has no lease, and Unlock leaves it.
type kept struct {
	unreachable
	rdb redis.UniversalClient
	key string
}

func newKept(rdb redis.UniversalClient, name string, _ time.Duration) (failures.Locker, error) {
	return kept{rdb: rdb, key: name}, nil
}

func (k kept) TryLock(ctx context.Context) (bool, error) {
	return k.rdb.Do(ctx, "SETNX", k.key, "1").Bool()
}

func (k kept) Lock(ctx context.Context) error {
	for {
		if held, err := k.TryLock(ctx); err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (kept) Unlock(context.Context) error { return errors.New("not held") }

// A story bounds each Lock that a lock may have to wait out: polling until the horizon takes thousands of commands.
func TestStoriesBoundTheirLocks(t *testing.T) {
	subject := failures.Subject{
		Name: "kept", New: adapters.Plain(newKept), Has: everything, Variants: map[catalogue.Variant]world.Constructor{},
	}
	for _, f := range slices.Concat(catalogue.All, catalogue.OfReplicas) {
		f.Unless, subject.Variants[f.Variant] = nil, adapters.Plain(newKept)
		v := failures.Run(t, f, subject.With(failures.Waits))
		require.NotNil(t, v.Trace, f.ID)
		for _, e := range v.Trace.Events {
			if e.Kind == trace.Blocked && e.Op == trace.OpLock {
				t.Errorf("%s: %s waits until the horizon: give its Lock a world.Within", f.ID, e.Client)
				break
			}
		}
	}
}
