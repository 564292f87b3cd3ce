package world_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lock is the smallest lock that the world's tests need: SET NX PX and DEL.
type lock struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
}

func newLock(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &lock{rdb, "lock:" + name, lease}, nil
}

func (l *lock) TryLock(ctx context.Context) (bool, error) {
	err := l.rdb.Do(ctx, "SET", l.key, "locked", "NX", "PX", l.lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (l *lock) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

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

func (l *lock) Unlock(ctx context.Context) error { return l.rdb.Do(ctx, "DEL", l.key).Err() }

// scripted is a lock that uses Lua scripts and renews every third of its lease.
type scripted struct {
	lock
	stop chan struct{}
	done chan struct{}
}

var (
	takeScript  = redis.NewScript("-- take\nif redis.call('SET', KEYS[1], 'locked', 'NX', 'PX', ARGV[1]) then return 1 end return 0")
	renewScript = redis.NewScript("-- renew\nreturn redis.call('PEXPIRE', KEYS[1], ARGV[1])")
	freeScript  = redis.NewScript("-- free\nreturn redis.call('DEL', KEYS[1])")
)

func newScripted(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &scripted{lock: lock{rdb, "lock:" + name, lease}}, nil
}

func (l *scripted) TryLock(ctx context.Context) (bool, error) {
	n, err := takeScript.Run(ctx, l.rdb, []string{l.key}, l.lease.Milliseconds()).Int()
	if err != nil || n == 0 {
		return false, err
	}
	l.stop, l.done = make(chan struct{}), make(chan struct{})
	go l.watch(l.stop, l.done)
	return true, nil
}

func (l *scripted) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l *scripted) watch(stop, done chan struct{}) {
	defer close(done)
	ticker := time.NewTicker(l.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			n, err := renewScript.Run(context.Background(), l.rdb, []string{l.key}, l.lease.Milliseconds()).Int()
			if err == nil && n == 0 {
				return
			}
		}
	}
}

func (l *scripted) Unlock(ctx context.Context) error {
	if l.stop != nil {
		close(l.stop)
		<-l.done
		l.stop = nil
	}
	return freeScript.Run(ctx, l.rdb, []string{l.key}).Err()
}

// run plays a scenario with [lock] and requires that it has no error.
func run(t *testing.T, scenario func(*world.World)) *trace.Trace {
	t.Helper()
	return runWith(t, world.Config{New: adapters.Plain(newLock)}, scenario)
}

func runWith(t *testing.T, config world.Config, scenario func(*world.World)) *trace.Trace {
	t.Helper()
	tr, err := world.Run(t, config, scenario)
	require.NoError(t, err)
	return tr
}

// events returns the events of a kind, in order.
func events(tr *trace.Trace, kind trace.Kind) []trace.Event {
	var found []trace.Event
	for _, e := range tr.Events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// executed returns the commands that Redis ran, as lines.
func executed(tr *trace.Trace) []string {
	var lines []string
	for _, e := range events(tr, trace.Executed) {
		lines = append(lines, e.Client+" "+e.Line())
	}
	return lines
}

// result returns the result of the client's last call.
func result(t *testing.T, tr *trace.Trace, client string) trace.Result {
	t.Helper()
	returned := events(tr, trace.Returned)
	for i := len(returned) - 1; i >= 0; i-- {
		if returned[i].Client == client {
			return *returned[i].Result
		}
	}
	t.Fatalf("no call of %s returned", client)
	return trace.Result{}
}
