package locktest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	miniserver "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

func refusesBadInput(t *testing.T, l Lock) {
	const tooShort = " is too short: the shortest lease Redis keeps is 1ms"
	rdb := redis.NewClient(&redis.Options{})
	defer rdb.Close()
	for _, input := range []struct {
		rdb  redis.UniversalClient
		name string
		ttl  time.Duration
		want string
	}{
		{nil, name, lease, "client is nil: pass a redis.UniversalClient such as redis.NewClient returns"},
		{rdb, "", lease, `lock name is empty: name what is protected, such as "order:1001"`},
		{rdb, name, 0, "ttl 0s" + tooShort},
		{rdb, name, -time.Second, "ttl -1s" + tooShort},
		{rdb, name, 999 * time.Microsecond, "ttl 999µs" + tooShort},
	} {
		mutex, err := l.New(adapters.Using(input.rdb), input.name, input.ttl)
		require.EqualError(t, err, l.Prefix+": "+input.want)
		require.Nil(t, mutex)
	}
}

// Each third of the shortest lease leaves time for a command to Redis.
func refusesWhatItCannotRenew(t *testing.T, l Lock) {
	rdb := redis.NewClient(&redis.Options{})
	defer rdb.Close()
	_, err := l.New(adapters.Using(rdb), name, 29*time.Millisecond)
	require.EqualError(t, err, l.Prefix+": ttl 29ms is too short to be renewed three times: use 30ms or more, or WithoutWatchdog")
	_, err = l.New(adapters.Using(rdb), name, 30*time.Millisecond)
	require.NoError(t, err)
	_, err = l.Variants[catalogue.FixedLease](adapters.Using(rdb), name, time.Millisecond)
	require.NoError(t, err)
}

func asksEvery100Milliseconds(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(3*poll + poll/2))
	})
	var asked []time.Duration
	for _, e := range run.Executed("B") {
		asked = append(asked, e.At)
	}
	require.Equal(t, []time.Duration{0, poll, 2 * poll, 3 * poll}, asked)
}

// A waiter that polls gets the lock at its next attempt; one that is woken gets it at once.
func servesAWaiterAfterUnlock(t *testing.T, l Lock) {
	freed, served := 2*poll+poll/2, 3*poll
	if l.has(catalogue.PubSub) {
		served = freed
	}
	run := l.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		waiting := b.StartLock()
		w.Sleep(freed)
		a.Unlock()
		waiting.Wait()
	})
	lock := run.Returned(t, "B", trace.OpLock)
	require.True(t, lock.Result.Held)
	require.Equal(t, served, lock.At)
}

// The contexts end between two attempts. The claim is the result of errors.Is: a trace has only the error's text.
func endsWithItsContext(t *testing.T, l Lock) {
	const end = 2*poll + poll/2
	for text, wait := range map[string]func(*world.World, *world.Client){
		"context deadline exceeded": func(_ *world.World, b *world.Client) { b.Lock(world.Within(end)) },
		"context canceled": func(w *world.World, b *world.Client) {
			waiting := b.StartLock()
			w.Sleep(end)
			waiting.Cancel()
		},
	} {
		run := l.Play(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait(w, b)
		})
		lock := run.Returned(t, "B", trace.OpLock)
		require.Equal(t, l.Prefix+": wait for "+l.Key+": "+text+l.Refused, lock.Result.Error)
		require.Equal(t, trace.ClaimUnknown, lock.Result.Claim)
		require.Equal(t, end, lock.At)
	}
}

func endsWithAnErrorOfRedis(t *testing.T, l Lock) {
	const full = "OOM command not allowed when used memory > 'maxmemory'."
	run := l.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Any).Always().Fail(full)
		a.Lock(world.Within(time.Second))
	})
	lock := run.Returned(t, "A", trace.OpLock)
	require.Equal(t, l.Prefix+": lock "+l.Key+": "+full, lock.Result.Error)
	require.Zero(t, lock.At)
}

func returnsAnErrorOfRedis(t *testing.T, l Lock) {
	const misconf = "MISCONF Redis is configured to save RDB snapshots, but it cannot" // it is not temporary
	want := []string{l.Prefix + ": unlock " + l.Key + ": " + misconf, ""}
	if l.Again != nil {
		want[1] = l.Again.Error()
	}
	for _, refused := range []world.Match{world.Any, world.Write} { // the first command of each kind in Unlock
		run := l.Play(t, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Before(world.Of(trace.OpUnlock, refused)).Fail(misconf)
			a.Unlock()
			a.Unlock()
		})
		var said []string
		for _, e := range run.Events {
			if e.Kind == trace.Returned && e.Op == trace.OpUnlock {
				said = append(said, e.Result.Error)
			}
		}
		require.Equal(t, want, said)
	}
}

func returnsAnErrorOfTheNetwork(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Cut()
		a.Unlock()
	})
	require.Contains(t, run.Returned(t, "A", trace.OpUnlock).Result.Error, l.Prefix+": unlock "+l.Key+": ")
}

// A's acquire is a second late, so A is told of its loss a second before Redis removes the key.
func returnsTheLoss(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Any).Delay(time.Second)
		a.Lock()
		a.Cut()
		w.Sleep(lease - poll)
		a.Heal()
		a.Unlock()
	})
	require.Equal(t, l.Lost.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
}

// Another library takes a lock of that name after A's key was deleted. Unlock or the first renewal reports the loss.
func losesAKeyOfAnotherType(t *testing.T, l Lock) {
	for _, work := range []time.Duration{0, lease / 2} {
		run := l.Play(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.StartRun("DEL", l.Key).Wait()
			b.StartRun("LPUSH", l.Key, "another library").Wait()
			w.Sleep(work)
			a.Unlock()
		})
		require.Contains(t, run.Returned(t, "A", trace.OpUnlock).Result.Error, l.Lost.Error())
		for _, e := range run.Events {
			require.False(t, e.Kind == trace.Lost && e.At > lease/3, "the renewal has failed for %v", e.At)
		}
	}
}

// A is paused for longer than its lease before it reads the answer to any attempt.
func givesUpWhereTheWayIsTooLong(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.After(w.Grants).Always().Freeze()
		try := a.StartTryLock()
		for range 3 {
			w.Sleep(lease + time.Second)
			a.Thaw()
		}
		try.Wait()
	})
	result := run.Returned(t, "A", trace.OpTryLock).Result
	require.False(t, result.Held)
	require.NotEmpty(t, result.Error)
}

// This test calls the lock itself, because a trace has only the text of an error.
func refusesUnlockWithoutAHold(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	err := mutex.Unlock(t.Context())
	require.True(t, errors.Is(err, l.NotHeld) || errors.Is(err, adapters.ErrNoHold), "a stranger's Unlock: %v", err)
	require.Zero(t, server.TotalConnectionCount(), "a stranger has nothing to send")

	require.NoError(t, mutex.Lock(t.Context()))
	require.NoError(t, mutex.Unlock(t.Context()))
	require.ErrorIs(t, mutex.Unlock(t.Context()), l.NotHeld, "a second time")

	require.NoError(t, mutex.Lock(t.Context()))
	server.FastForward(lease + time.Second)
	require.ErrorIs(t, mutex.Unlock(t.Context()), l.Lost, "after the lease")
}

// A subscription would need a second connection.
func takesWithoutSubscription(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	for range 3 {
		require.NoError(t, mutex.Lock(t.Context()))
		require.NoError(t, mutex.Unlock(t.Context()))
	}
	require.Equal(t, 1, server.TotalConnectionCount())
}

// A subscription may last for a lease after its last waiter. One that is never
// closed costs a connection for each wait.
func unsubscribes(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	holder, waiter := l.take(t, server, lease), l.take(t, server, 100*time.Millisecond)
	require.NoError(t, holder.Lock(t.Context()))
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- waiter.Lock(ctx) }()
	listen := func(n int) {
		require.Eventually(t, func() bool { return len(server.PubSubChannels("*")) == n }, 10*time.Second, time.Millisecond)
	}
	listen(1)
	leave()
	require.Error(t, <-left)
	listen(0)
	require.NoError(t, holder.Unlock(t.Context()))
}

// A key without a lease may come from an administrator or another program.
func refusesWithoutALease(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	holder, other := l.take(t, server, lease), l.take(t, server, lease)
	require.NoError(t, holder.Lock(t.Context()))
	require.Equal(t, lease, server.TTL(l.Key))
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	require.NoError(t, rdb.Persist(t.Context(), l.Key).Err())
	held, err := other.TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	require.NoError(t, holder.Unlock(t.Context()))
}

func needsTheRightToALease(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	server.Server().SetPreHook(func(p *miniserver.Peer, command string, _ ...string) bool {
		denied := command == "PEXPIRE"
		if denied {
			p.WriteError("ERR The user executing the script can't run this command or subcommand script: 0f5f38fe, on @user_script:9.")
		}
		return denied
	})
	_, err := l.take(t, server, poll).TryLock(t.Context())
	require.ErrorContains(t, err, "The user executing the script")
	require.False(t, server.Exists(l.Key))
}

// take returns a client's lock on that server.
func (l Lock) take(t *testing.T, server *miniredis.Miniredis, lease time.Duration) failures.Locker {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	mutex, err := l.New(adapters.Using(rdb), name, lease)
	require.NoError(t, err)
	t.Cleanup(func() {
		if service, ok := mutex.(io.Closer); ok {
			_ = service.Close()
		}
		_ = rdb.Close()
	})
	return mutex
}
