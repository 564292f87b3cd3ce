package stage6_test

import (
	"cmp"
	"context"
	"os"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

const (
	lockName = "order:1001"
	key      = "lock:{order:1001}"
	channel  = "lock__channel:{order:1001}"
	tokenKey = "lock:{order:1001}:token"
	lease    = 30 * time.Second
)

// scripts are the names of the lock's scripts.
var scripts = []string{"acquire", "count", "release", "renew", "force", "cleanup", "look"}

// inBubble runs a test in fake time, with a new Redis that already knows the lock's scripts.
func inBubble(t *testing.T, test func(t *testing.T, r *redisNode)) {
	t.Helper()
	world.Test(t, world.Config{Scripts: texts(t)}, func(t *testing.T, w *world.World) {
		test(t, redisOf(t, w, w.Node))
	})
}

// redisNode is a Redis of a world.
type redisNode struct {
	*miniredis.Miniredis
	t         *testing.T
	world     *world.World
	server    *world.Node
	faults    map[string][]*world.Fault // kind and name → faults
	forgotten int                       // events of the trace
}

func redisOf(t *testing.T, w *world.World, server *world.Node) *redisNode {
	settle = w.Wait
	return &redisNode{Miniredis: server.Embedded(), t: t, world: w, server: server, faults: map[string][]*world.Fault{}}
}

// settle waits until nothing else can happen without time passing, in the newest bubble.
var settle func()

// Answer makes a script, or another command, return these bytes, until Answer is called without any.
func (r *redisNode) Answer(name string, raw ...string) {
	strike(r, "answer ", name, raw, func(f *world.Fault, text string) { f.Always().Answer(text) })
}

// Refuse makes the next commands of that name fail with these errors; "" breaks the connection.
func (r *redisNode) Refuse(name string, errors ...string) {
	strike(r, "refuse ", name, errors, func(f *world.Fault, text string) {
		if text == "" {
			f.Drop()
		} else {
			f.Fail(text)
		}
	})
}

// Delay delays the execution of the commands of that name.
func (r *redisNode) Delay(name string, d time.Duration) {
	strike(r, "delay ", name, []time.Duration{d}, func(f *world.Fault, d time.Duration) { f.Always().Delay(d) })
}

// strike adds a fault for each effect on commands of that name, in place of the earlier ones.
func strike[T any](r *redisNode, kind, name string, effects []T, add func(*world.Fault, T)) {
	r.world.Do(func() {
		for _, f := range r.faults[kind+name] {
			f.End()
		}
		r.faults[kind+name] = nil
		for _, effect := range effects {
			f := r.server.Before(func(c world.Command) bool { return cmp.Or(c.Script, c.Name) == name })
			add(f, effect)
			r.faults[kind+name] = append(r.faults[kind+name], f)
		}
	})
}

// sent is a command that was sent to Redis: the name of the lock's script or of the command, and the time.
type sent struct {
	At   time.Duration
	Name string
}

// Sent returns the lock's commands, once all goroutines are blocked.
func (r *redisNode) Sent() (all []sent) {
	r.world.Do(func() {
		for _, e := range r.world.Trace().Events[r.forgotten:] {
			if e.Kind != trace.Sent {
				continue
			}
			switch name := e.Command[0]; name {
			case "EVALSHA":
				all = append(all, sent{e.At, e.Command[1]})
			case "EVAL":
				all = append(all, sent{e.At, "EVAL " + e.Command[1]})
			case "SUBSCRIBE", "PING":
				all = append(all, sent{e.At, name})
			}
		}
	})
	return all
}

// Count returns the number of commands of that name.
func (r *redisNode) Count(name string) (n int) {
	for _, s := range r.Sent() {
		if s.Name == name {
			n++
		}
	}
	return n
}

// Forget clears the record of commands.
func (r *redisNode) Forget() { r.world.Do(func() { r.forgotten = len(r.world.Trace().Events) }) }

// HoldCounts returns the counts in the lock's hash.
func (r *redisNode) HoldCounts() (counts []string) {
	owners, _ := r.HKeys(key) // an error when the lock is free
	for _, owner := range owners {
		counts = append(counts, r.HGet(key, owner))
	}
	return counts
}

// Publish publishes a message and returns how many clients it reached.
func (r *redisNode) Publish(channel, message string) int {
	return int(r.Client().Publish(r.t.Context(), channel, message).Val())
}

// CurrentConnectionCount returns the number of open connections.
func (r *redisNode) CurrentConnectionCount() (n int) {
	r.world.Do(func() { n = r.server.Connections() })
	return n
}

// Client returns a new client with its own connection pool, as another process would have it.
func (r *redisNode) Client(change ...func(*redis.Options)) (rdb *redis.Client) {
	defaults := func(o *redis.Options) { o.MaxRetries, o.MinRetryBackoff, o.MaxRetryBackoff, o.PoolSize = 0, 0, 0, 32 }
	r.world.Do(func() { rdb = adapters.Connect(r.server, append([]func(*redis.Options){defaults}, change...)...) })
	return rdb
}

// Service returns a service with a new client, as another process would have it.
func (r *redisNode) Service(opts ...stage6.Option) *stage6.Service {
	r.t.Helper()
	return r.ServiceOn(r.Client(), opts...)
}

// ServiceOn returns a service that uses this client.
func (r *redisNode) ServiceOn(rdb redis.UniversalClient, opts ...stage6.Option) *stage6.Service {
	r.t.Helper()
	svc, err := stage6.NewService(rdb, opts...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = svc.Close() }) // a test that needs the error closes the service itself
	return svc
}

// Mutex returns the lock of a new service.
func (r *redisNode) Mutex(opts ...stage6.Option) *stage6.Mutex {
	r.t.Helper()
	return mutexOf(r.t, r.Service(opts...), lockName)
}

// mutexOf returns the lock of that name.
func mutexOf(t *testing.T, svc *stage6.Service, name string) *stage6.Mutex {
	t.Helper()
	m, err := svc.Mutex(name)
	require.NoError(t, err)
	return m
}

// lock takes a lock that is free, or held by the owner that ctx carries.
func lock(t *testing.T, m *stage6.Mutex, ctx context.Context, opts ...stage6.LockOption) *stage6.Hold {
	t.Helper()
	hold, err := m.TryLock(ctx, opts...)
	require.NoError(t, err)
	return hold
}

// outcome is the result of a Lock in another goroutine.
type outcome struct {
	hold *stage6.Hold
	err  error
	at   time.Time
}

// startLock calls Lock in a new goroutine. When startLock returns, that Lock waits
// or has returned.
func startLock(m *stage6.Mutex, ctx context.Context) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		hold, err := m.Lock(ctx)
		done <- outcome{hold, err, time.Now()}
	}()
	settle()
	return done
}

// requireWaiting asserts that a Lock has not returned yet.
func requireWaiting(t *testing.T, done chan outcome) {
	t.Helper()
	settle()
	require.Empty(t, done, "it should still wait")
}

// requireHeld asserts that a Lock has its hold by now, without time passing.
func requireHeld(t *testing.T, done chan outcome) *stage6.Hold {
	t.Helper()
	settle()
	require.Len(t, done, 1, "it should have the lock by now")
	o := <-done
	require.NoError(t, o.err)
	return o.hold
}

// slowValues is a context whose Value takes a moment: a goroutine that waits for its turn gets it
// in between, as on another processor.
type slowValues struct{ context.Context }

const slowValue = time.Millisecond

func (s slowValues) Value(key any) any {
	time.Sleep(slowValue)
	return s.Context.Value(key)
}

// waitForEnd lets time pass until the hold's context ends.
func waitForEnd(t *testing.T, hold *stage6.Hold) {
	t.Helper()
	select {
	case <-hold.Context().Done():
	case <-time.After(time.Hour):
		require.Fail(t, "the hold's context does not end")
	}
}

// source returns the text of one of the lock's scripts.
func source(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name + ".lua")
	require.NoError(t, err)
	return string(raw)
}

// since is time.Since in whole microseconds: a read that times out in a world ends a nanosecond late.
func since(began time.Time) time.Duration { return time.Since(began).Truncate(time.Microsecond) }
