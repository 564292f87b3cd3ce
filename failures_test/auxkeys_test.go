package failures_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
)

// sending is a lock that sends these commands when it is acquired, refused and released, and the last one after that.
type sending struct {
	rdb                           redis.UniversalClient
	granted, refused, freed, last []any
}

func (l sending) send(ctx context.Context, command []any) {
	if command != nil {
		l.rdb.Do(ctx, command...)
	}
}

func (l sending) TryLock(ctx context.Context) (bool, error) {
	held, err := l.rdb.SetNX(ctx, "lock", "0123456789abcdef", time.Minute).Result()
	if held {
		l.send(ctx, l.granted)
	} else {
		l.send(ctx, l.refused)
	}
	return held, err
}

func (l sending) Lock(ctx context.Context) error {
	_, err := l.TryLock(ctx)
	return err
}

func (l sending) Unlock(ctx context.Context) error {
	l.send(ctx, l.freed)
	l.send(ctx, l.last)
	return nil
}

func TestAuxKeysAreFoundInNormalUse(t *testing.T) {
	frees := []any{"DEL", "lock"}
	for what, c := range map[string]struct {
		lock   sending
		beside []string
	}{
		"a counter stays":               {sending{granted: []any{"INCR", "counter"}, freed: frees}, []string{"counter"}},
		"a refused client leaves a key": {sending{refused: []any{"SET", "asked", "me", "PX", "50"}, freed: frees}, []string{"asked"}},
		"each client has its own key": {
			sending{
				granted: []any{"SET", "of:f81d4fae7dec11d0a765", "me"}, refused: []any{"SET", "of:9c5b94b1a8f341e2b0d1", "me", "PX", "50"},
				freed: []any{"DEL", "lock", "of:f81d4fae7dec11d0a765"},
			},
			[]string{"of:f81d4fae7dec11d0a765"},
		},
		"a refused client takes the lock": {sending{refused: []any{"SET", "lock", "fedcba9876543210"}, freed: frees}, nil},
		"Unlock frees nothing":            {sending{}, nil},
		"nothing but the lock":            {sending{freed: frees}, nil},
		"the holder stays in a queue":     {sending{granted: []any{"ZADD", "queue", "1", "me"}, freed: []any{"DEL", "lock", "queue"}}, []string{"queue"}},
		"a counter of this lock":          {sending{granted: []any{"INCR", "n:" + world.DefaultLock + ":of"}, freed: frees}, []string{"n:*:of"}},
		"a counter named like the lock":   {sending{granted: []any{"INCR", world.DefaultLock}, freed: frees}, []string{world.DefaultLock}},
		"a counter goes with the lock":    {sending{granted: []any{"SET", world.DefaultLock + ":count", "1"}, freed: []any{"DEL", "lock", world.DefaultLock + ":count"}}, []string{"*:count"}},
		"a hash of the holder goes too":   {sending{granted: []any{"HSET", "info:0123456789abcdef", "since", "noon"}, freed: []any{"DEL", "lock", "info:0123456789abcdef"}}, []string{"info:0123456789abcdef"}},
		"a key of Unlock's goes at once": {
			sending{
				freed: []any{"EVAL", "redis.call('DEL', 'lock') redis.call('SET', KEYS[1], '1')", "1", "freed:f81d4fae7dec11d0a765"},
				last:  []any{"DEL", "freed:f81d4fae7dec11d0a765"},
			},
			[]string{"freed:f81d4fae7dec11d0a765"},
		},
		"a second key goes with the lock": {sending{granted: []any{"SET", "info", "me"}, freed: []any{"DEL", "lock", "info"}}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			trace, err := world.Run(t, world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
				c.lock.rdb = rdb
				return c.lock, nil
			})}, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				a.TryLock()
				b.TryLock()
				w.Sleep(time.Second)
				a.Unlock()
			})
			require.NoError(t, err)
			require.Equal(t, c.beside, failures.AuxKeys(trace))
		})
	}
	require.Empty(t, failures.AuxKeys(nil))
}

func TestEachWaiterMayHaveItsOwnAuxKey(t *testing.T) {
	const one, other = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "9c5b94b1-35ad-49bb-b118-8e8fc24abf80"
	s := failures.Subject{}.Ignoring([]string{"waits:" + one})
	ofLocks := failures.Subject{}.Ignoring([]string{"lock:*:queue", world.DefaultLock})
	for key, ignored := range map[string]bool{"lock:{tea}:queue": true, "lock:tea": false, "xlock:tea:queue": false, world.DefaultLock: true, "tea": false} {
		require.Equal(t, ignored, ofLocks.Ignore(key), key)
	}
	for key, ignored := range map[string]bool{"waits:" + one: true, "waits:" + other: true, "waits:me": false, "lock:" + other: false} {
		require.Equal(t, ignored, s.Ignore(key), key)
	}
}

func TestLockKeysAreThoseOfTheHolder(t *testing.T) {
	lock := sending{granted: []any{"SET", world.DefaultLock + ":count", "1"}, freed: []any{"DEL", "lock", world.DefaultLock + ":count"}}
	trace, err := world.Run(t, world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
		lock.rdb = rdb
		return lock, nil
	})}, func(w *world.World) {
		w.Client("A").TryLock()
	})
	require.NoError(t, err)
	require.Equal(t, []string{"lock"}, failures.LockKeys(trace, failures.AuxKeys(trace)))
}
