package failures_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// dated is the lock with SETNX and GETSET that was written before SET had NX and PX: the end of
// its lease stands in the value, and who finds it over takes the key. A deaf one does not look.
type dated struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
	deaf  bool
}

func (d *dated) TryLock(ctx context.Context) (bool, error) {
	now := time.Now()
	until := now.Add(d.lease).UnixMilli()
	if held, err := d.rdb.SetNX(ctx, d.key, until, 0).Result(); held || err != nil || d.deaf {
		return held, err
	}
	was, err := d.rdb.Get(ctx, d.key).Result()
	if ends, _ := strconv.ParseInt(was, 10, 64); err != nil || ends > now.UnixMilli() {
		return false, ifNotNil(err)
	}
	before, err := d.rdb.GetSet(ctx, d.key, until).Result()
	return before == was || errors.Is(err, redis.Nil), ifNotNil(err)
}

// ifNotNil is an error other than Redis's word for nothing.
func ifNotNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

func (d *dated) Lock(ctx context.Context) error {
	for {
		if held, err := d.TryLock(ctx); held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (d *dated) Unlock(ctx context.Context) error { return d.rdb.Del(ctx, d.key).Err() }

// A lease that stands in the value is one, if those who come next heed it.
func TestLeaseMayStandInTheValue(t *testing.T) {
	for name, c := range map[string]struct {
		deaf    bool
		failure string
		outcome failures.Outcome
		by      oracle.Monitor
	}{
		"who dies is succeeded":     {false, "crash-before-expire", failures.Safe, ""},
		"who dies is not succeeded": {true, "crash-before-expire", failures.Broken, oracle.Deadlock},
		"who unlocks has a lease":   {false, "second-client", failures.Safe, ""},
		"whoever is late deletes":   {false, "delete-foreign", failures.Broken, oracle.WrongDelete},
		"work outlives the lease":   {false, "work-outlives-fixed-lease", failures.Broken, oracle.Exclusion},
		"two find it over at once":  {false, "check-then-set", failures.Safe, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := failures.Find(c.failure)
			v := failures.Run(t, f, failures.Subject{Name: "dated", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
				return &dated{rdb: rdb, key: "lock:" + name, lease: lease, deaf: c.deaf}, nil
			}})
			require.Equal(t, c.outcome, v.Outcome, v.Sentence())
			if against, broken := v.Against(); broken {
				require.Equal(t, c.by, against.Monitor)
			}
		})
	}
}
