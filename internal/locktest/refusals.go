package locktest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	miniserver "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// stopped are the errors of scripts that Redis has stopped at a command: Redis 6.2, 7.0, 8.2, Valkey 9.1.
var stopped = []string{
	"ERR Error running script (call to f_0f5f38fe): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.",
	"ERR The user executing the script can't run this command or subcommand script: 0f5f38fe, on @user_script:1.",
	"ERR ACL failure in script: User locker has no permissions to run the 'del' command script: 0f5f38fe, on @user_script:1.",
	"ERR ACL failure in script: No permissions to access a channel script: 0f5f38fe, on @user_script:6.",
	"ERR ACL failure in script: User locker has no permissions to run the 'hset' command script: on @user_script:1.",
}

func sendsOnceWhatRedisStopped(t *testing.T, l Lock) {
	calls := map[string]func(*world.Client){
		trace.OpTryLock: func(a *world.Client) { a.TryLock() },
		trace.OpUnlock:  func(a *world.Client) { a.Lock(); a.Unlock() },
	}
	for op, call := range calls {
		for _, text := range stopped {
			run := l.Play(t, func(w *world.World) {
				a := w.Client("A")
				a.Before(world.Of(op, world.Write)).Always().Fail(text)
				call(a)
				w.Sleep(time.Second)
			})
			returned, sent := run.Returned(t, "A", op), 0
			require.Contains(t, returned.Result.Error, text)
			require.Zero(t, returned.At)
			for _, e := range run.Events {
				require.False(t, e.Background && e.Client == "A", "%s: a clean-up", text)
				if e.Kind == trace.Sent && e.Op == op {
					sent++
				}
			}
			require.Equal(t, 1, sent, "%s of %s", op, text)
		}
	}
}

// The reply to A's unlock is lost. In the second run A's key was deleted before, and B has the lock.
func tellsWhatItDoesNotKnow(t *testing.T, l Lock) {
	unknown := l.Prefix + ": unlock " + l.Key + ": the outcome is not known: EOF"
	for _, isLost := range []bool{false, true} {
		run := l.Play(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			if isLost {
				b.StartRun("DEL", l.Key).Wait()
				b.Lock()
			}
			a.After(world.Of(trace.OpUnlock, world.Write)).Drop()
			a.Unlock()
			a.Unlock()
			if isLost {
				b.Unlock()
			}
		})
		want := []string{unknown, l.NotHeld.Error()}
		if l.has(catalogue.Fencing) && !isLost {
			want[0] = "" // no other client got a token
		}
		if isLost {
			want = append(want, "") // of B
		}
		var told []string
		for _, e := range run.Events {
			if e.Kind == trace.Returned && e.Op == trace.OpUnlock {
				require.False(t, errors.Is(e.Result.Err, l.Lost))
				told = append(told, e.Result.Error)
			}
		}
		require.Equal(t, want, told)
	}
}

// refuse lets a server answer commands with an error if refused returns true.
func refuse(server *miniredis.Miniredis, refused func(command string) bool) {
	server.Server().SetPreHook(func(p *miniserver.Peer, command string, _ ...string) bool {
		if !refused(command) {
			return false
		}
		p.WriteError(stopped[1])
		return true
	})
}

// The user has no right to look at the key for a while.
func renewsAfterARefusal(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, 3*time.Second) // long enough for a busy machine
	require.NoError(t, mutex.Lock(t.Context()))
	var looks atomic.Int64
	renewed := make(chan struct{})
	refuse(server, func(command string) bool {
		if command == "PEXPIRE" {
			close(renewed)
		}
		return (command == "GET" || command == "HEXISTS") && looks.Add(1) == 1
	})
	told, _ := mutex.(world.Noticing).Lost(t.Context())
	select {
	case <-renewed:
	case <-told:
		require.Fail(t, "the lock is lost")
	}
	server.Server().SetPreHook(nil)
	require.NoError(t, mutex.Unlock(t.Context()))
}

// Data under the lock's key must not look like a held lock, and it must stay.
func refusesWhatIsNoLock(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
	for _, data := range [][]any{
		{"SET", l.Key, "an order"},
		{"HSET", l.Key, "tea", 1, "milk", 2},
		{"HSET", l.Key, "tea", 1},
		{"HSET", l.Key, "tea:1", "hot"},
		{"HSET", l.Key, "tea:1", 0},
		{"HSET", l.Key, ":1", 1},
		{"HSET", l.Key, "tea:1", "1.5"},
	} {
		server.FlushAll()
		require.NoError(t, rdb.Do(t.Context(), data...).Err())
		before := server.Dump()
		held, err := mutex.TryLock(t.Context())
		require.ErrorContains(t, err, wrongType, data)
		require.False(t, held)
		if forcing, ok := mutex.(world.Forcing); ok {
			freed, err := forcing.ForceUnlock(t.Context())
			require.ErrorContains(t, err, wrongType, data)
			require.False(t, freed)
		}
		require.Equal(t, before, server.Dump())
	}
}

// A user without the right to read the lock gets no lock, and does not look at what it is.
func takesForALockWhatItMayNotRead(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	refuse(server, func(command string) bool { return command == "HGETALL" })
	server.HSet(l.Key, "tea", "1")
	held, err := mutex.TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
}

// Redisson's owner is a UUID and the number of a thread.
func waitsForALockOfAnotherLibrary(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	server.HSet(l.Key, "285475da-9152-4c83-822a-67ee2f116a79:52", "2")
	held, err := mutex.TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
}
