package failures_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// mutant is a lock with one mistake of design that no single line of a stage
// shows.
type mutant struct {
	name    string
	failure string // that convicts it
	new     func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error)
}

var mutants = []mutant{
	{"asks with GET whether the lock is free, then sets it", "check-then-set", newAsking},
	{"gives the key no lease at all", "crash-before-expire", newEndless},
	{"keeps its value for as long as the object lives", "late-unlock", newFixedValue},
}

func TestEachMutantIsConvicted(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			f, ok := failures.Find(m.failure)
			require.True(t, ok)
			require.Equal(t, failures.Broken, outcome(t, f, m.new))
			require.Equal(t, failures.Safe, outcome(t, f, newHealthyLocker), "the lock without the mistake")
		})
	}
}

func outcome(t *testing.T, f failures.Failure, create world.New) failures.Outcome {
	t.Helper()
	subject := failures.Subject{Name: "mutant", New: create}
	scripts, err := failures.Rehearse(t, subject)
	require.NoError(t, err)
	v := failures.Run(t, f, subject, scripts)
	require.NoError(t, v.Err)
	return v.Outcome
}

// healthy is a correct lock of stage 4's kind, which mutants damage.
type healthy struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
	value string
}

func newHealthy(rdb redis.UniversalClient, name string, lease time.Duration) *healthy {
	return &healthy{rdb: rdb, key: "lock:" + name, lease: lease}
}

func newHealthyLocker(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return newHealthy(rdb, name, lease), nil
}

func (h *healthy) take(ctx context.Context, value string) (bool, error) {
	err := h.rdb.Do(ctx, "SET", h.key, value, "NX", "PX", h.lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err == nil {
		h.value = value
	}
	return err == nil, err
}

func (h *healthy) TryLock(ctx context.Context) (bool, error) { return h.take(ctx, uuid.NewString()) }

func (h *healthy) Lock(ctx context.Context) error { return poll(ctx, h.TryLock) }

var errNotHeld = errors.New("mutant: not held")

var freeScript = redis.NewScript(`-- free
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`)

func (h *healthy) Unlock(ctx context.Context) error {
	n, err := freeScript.Run(ctx, h.rdb, []string{h.key}, h.value).Int()
	if err == nil && n == 0 {
		return errNotHeld
	}
	return err
}

func poll(ctx context.Context, try func(context.Context) (bool, error)) error {
	for {
		held, err := try(ctx)
		if err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestHealthyLockIsAcquitted is what makes the mutants' convictions count.
func TestHealthyLockIsAcquitted(t *testing.T) {
	subject := failures.Subject{Name: "healthy", New: newHealthyLocker, Has: []failures.Feature{failures.Scripts}}
	failures.Check(t, subject, failures.Stage(4))
}

type asking struct{ *healthy }

func newAsking(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &asking{newHealthy(rdb, name, lease)}, nil
}

func (a *asking) TryLock(ctx context.Context) (bool, error) {
	err := a.rdb.Get(ctx, a.key).Err()
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, redis.Nil) {
		return false, err
	}
	a.value = uuid.NewString()
	return true, a.rdb.Do(ctx, "SET", a.key, a.value, "PX", a.lease.Milliseconds()).Err()
}

func (a *asking) Lock(ctx context.Context) error { return poll(ctx, a.TryLock) }

type endless struct{ *healthy }

func newEndless(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &endless{newHealthy(rdb, name, lease)}, nil
}

func (e *endless) TryLock(ctx context.Context) (bool, error) {
	e.value = uuid.NewString()
	err := e.rdb.Do(ctx, "SET", e.key, e.value, "NX").Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (e *endless) Lock(ctx context.Context) error { return poll(ctx, e.TryLock) }

type fixedValue struct {
	*healthy
	mine string
}

func newFixedValue(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &fixedValue{newHealthy(rdb, name, lease), uuid.NewString()}, nil
}

func (f *fixedValue) TryLock(ctx context.Context) (bool, error) { return f.take(ctx, f.mine) }

func (f *fixedValue) Lock(ctx context.Context) error { return poll(ctx, f.TryLock) }
