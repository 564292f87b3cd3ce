package stage6_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

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

// inBubble runs a test in fake time, with a new Redis that already knows the
// lock's scripts.
func inBubble(t *testing.T, test func(t *testing.T, r *fakeRedis)) {
	t.Helper()
	crowded := false
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRedis{
			Miniredis: miniredis.NewMiniRedis(), t: t, start: time.Now(), names: map[string]string{},
			refuse: map[string][]string{}, delay: map[string]time.Duration{}, answer: map[string]string{}, crowded: &crowded,
		}
		conn, err := r.Dial() // starts the server
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		r.ClockTTL(true)
		t.Cleanup(func() {
			synctest.Wait() // miniredis must not close during a dial
			r.Close()
		})
		rdb := r.Client()
		for _, name := range scripts {
			r.names[rdb.ScriptLoad(t.Context(), source(t, name)).Val()] = name
		}
		r.Server().SetPreHook(r.hook)
		test(t, r)
	})
	if crowded {
		// go-redis keeps the timers of a busy pool in a sync.Pool, which two collections
		// empty: the next bubble must not get one.
		runtime.GC()
		runtime.GC()
	}
}

// fakeRedis is a Redis that records the commands it gets, and can refuse or delay them.
type fakeRedis struct {
	*miniredis.Miniredis
	t     *testing.T
	start time.Time
	names map[string]string // hash → name of the script

	mu     sync.Mutex
	sent   []sent
	refuse map[string][]string // name → errors to answer with, in order; "" breaks the connection
	delay  map[string]time.Duration
	answer map[string]string // script → bytes to answer with

	routed  bool  // a proxy that sends a script to the server of its first key is in front of many servers
	crowded *bool // a command had to wait for a connection
}

// sent is a command that reached Redis: the name of the lock's script or of the
// command, and the time.
type sent struct {
	At   time.Duration
	Name string
}

// hook is called for every command before it is executed, also for those that scripts run.
func (r *fakeRedis) hook(c *server.Peer, command string, args ...string) bool {
	r.mu.Lock()
	name, script := command, ""
	switch command {
	case "EVALSHA":
		script = r.names[args[0]]
		name = script
	case "EVAL":
		script = scriptName(args[0])
		name = "EVAL " + script
		r.names[redis.NewScript(args[0]).Hash()] = script
	case "PTTL":
		raw, answered := r.answer[command]
		r.mu.Unlock()
		if answered {
			c.WriteRaw(raw)
		}
		return answered
	case "SUBSCRIBE", "PING":
	default:
		r.mu.Unlock()
		return false
	}
	r.sent = append(r.sent, sent{time.Since(r.start), name})
	delay, errors := r.delay[name], r.refuse[name]
	raw, answered := r.answer[script]
	if r.routed && name == "renew" && args[1] != "1" { // the other keys are elsewhere
		n, _ := strconv.Atoi(args[1])
		raw, answered = fmt.Sprintf("*%d\r\n:1\r\n%s", n, strings.Repeat(":0\r\n", n-1)), true
		r.SetTTL(args[2], lease)
	}
	if len(errors) > 0 {
		r.refuse[name] = errors[1:]
	}
	r.mu.Unlock()
	time.Sleep(delay)
	switch {
	case answered:
		c.WriteRaw(raw)
	case len(errors) == 0:
		return false
	case errors[0] == "":
		c.Close()
	default:
		c.WriteError(errors[0])
	}
	return true
}

// Answer makes a script return these bytes, until Answer is called without any.
func (r *fakeRedis) Answer(script string, raw ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answer, script)
	if len(raw) > 0 {
		r.answer[script] = raw[0]
	}
}

// Refuse makes the next commands of that name fail with these errors; "" breaks the connection.
func (r *fakeRedis) Refuse(name string, errors ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse[name] = errors
}

// Delay delays the execution of the commands of that name.
func (r *fakeRedis) Delay(name string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delay[name] = d
}

// Sent returns the commands that reached Redis, once all goroutines are blocked.
func (r *fakeRedis) Sent() []sent {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// Count returns the number of commands of that name that reached Redis.
func (r *fakeRedis) Count(name string) int {
	n := 0
	for _, s := range r.Sent() {
		if s.Name == name {
			n++
		}
	}
	return n
}

// Forget clears the record of commands.
func (r *fakeRedis) Forget() {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = nil
}

// HoldCounts returns the counts in the lock's hash.
func (r *fakeRedis) HoldCounts() []string {
	var counts []string
	owners, _ := r.HKeys(key) // an error when the lock is free
	for _, owner := range owners {
		counts = append(counts, r.HGet(key, owner))
	}
	return counts
}

// Client returns a new client with its own connection pool, as another process would have it.
func (r *fakeRedis) Client(change ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{
		Addr:                     "127.0.0.1:6379",
		Protocol:                 2,
		DisableIdentity:          true,
		ContextTimeoutEnabled:    true,
		PoolSize:                 32,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return r.dial() },
	}
	for _, f := range change {
		f(options)
	}
	rdb := redis.NewClient(options)
	r.t.Cleanup(func() {
		stats := rdb.PoolStats()
		*r.crowded = *r.crowded || stats.WaitCount > 0 || stats.Timeouts > 0
		_ = rdb.Close() // some tests close the client themselves
	})
	return rdb
}

// dial connects with a buffer for data that the other side has not read yet, as a socket has.
// With a plain net.Pipe go-redis and miniredis can wait for each other.
func (r *fakeRedis) dial() (net.Conn, error) {
	conn, err := r.Dial()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: conn, out: make(chan []byte, 1000), closed: make(chan struct{})}
	go s.send()
	return s, nil
}

// socket is a net.Pipe with a buffer for writes.
type socket struct {
	net.Conn
	out    chan []byte
	once   sync.Once
	closed chan struct{}
}

func (s *socket) send() {
	defer s.Close()
	for {
		select {
		case text := <-s.out:
			if _, err := s.Conn.Write(text); err != nil {
				return
			}
		case <-s.closed:
			return
		}
	}
}

func (s *socket) Write(text []byte) (int, error) {
	select {
	case <-s.closed:
		return 0, net.ErrClosed
	case s.out <- slices.Clone(text):
		return len(text), nil
	}
}

func (s *socket) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

func (s *socket) SetDeadline(t time.Time) error    { return s.SetReadDeadline(t) }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// Service returns a service with a new client, as another process would have it.
func (r *fakeRedis) Service(opts ...stage6.Option) *stage6.Service {
	r.t.Helper()
	return r.ServiceOn(r.Client(), opts...)
}

// ServiceOn returns a service that uses this client.
func (r *fakeRedis) ServiceOn(rdb redis.UniversalClient, opts ...stage6.Option) *stage6.Service {
	r.t.Helper()
	svc, err := stage6.NewService(rdb, opts...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = svc.Close() }) // a test that needs the error closes the service itself
	return svc
}

// Mutex returns the lock of a new service.
func (r *fakeRedis) Mutex(opts ...stage6.Option) *stage6.Mutex {
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
	synctest.Wait()
	return done
}

// requireWaiting asserts that a Lock has not returned yet.
func requireWaiting(t *testing.T, done chan outcome) {
	t.Helper()
	synctest.Wait()
	require.Empty(t, done, "it should still wait")
}

// requireHeld asserts that a Lock has its hold by now, without time passing.
func requireHeld(t *testing.T, done chan outcome) *stage6.Hold {
	t.Helper()
	synctest.Wait()
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

func scriptName(source string) string {
	var name string
	_, _ = fmt.Sscanf(source, "-- %s", &name) // "" if it has none
	return name
}
