package locktest_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
)

// mutex is a small lock that is correct except for one mistake, which wrong names.
type mutex struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
	wrong string
	id    string // identifies the object
	value string
	count int
	stop  context.CancelFunc
	ended chan struct{}
}

func newMutex(wrong string) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		m := &mutex{rdb: rdb, key: "lock:" + name, lease: lease, wrong: wrong, id: uuid.NewString(), ended: make(chan struct{})}
		switch wrong {
		case "no lock":
			m = nil
		case "an error":
			return nil, errors.New("not today")
		case "one key for all names":
			m.key = "lock"
		case "a key of its own":
			m.key += m.id
		}
		return m, nil
	}
}

func (m *mutex) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	switch m.wrong {
	case "one value":
		value = m.id
	case "four digits":
		m.count++
		value = strconv.Itoa(7000 + m.count)
	case "the time":
		value = strconv.FormatInt(time.Now().UnixNano(), 10)
	case "in memory":
		return true, nil
	case "gives nothing":
		return false, nil
	case "no value in TryLock":
		const take = `redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", 30000)`
		held, err := m.rdb.Eval(ctx, take, []string{m.key}, value).Int()
		return held == 1, err
	case "unknown command":
		return m.rdb.Do(ctx, "GETSET2", m.key, value).Bool()
	}
	set := []any{"SET", m.key, value, "NX", "PX", m.lease.Milliseconds()}
	err := m.rdb.Do(ctx, set...).Err()
	if m.wrong == "keeps connections" {
		err = m.rdb.(*redis.Client).Conn().Do(ctx, set...).Err()
	}
	isHeld := errors.Is(err, redis.Nil)
	switch {
	case isHeld && m.wrong == "waits in TryLock":
		time.Sleep(2 * time.Second)
	case isHeld && m.wrong == "nil as an error":
		return false, err
	case isHeld && m.wrong == "true and an error":
		return true, err
	case isHeld && m.wrong == "panics":
		panic("not today")
	}
	if isHeld {
		return false, nil
	}
	m.value = value
	if err == nil && m.wrong == "does not wait for its watchdog" {
		watch, stop := context.WithCancel(context.Background())
		m.stop = stop
		go m.watch(watch)
	}
	return err == nil, err
}

func (m *mutex) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.lease / 3):
			limited, cancel := context.WithTimeout(context.Background(), m.lease/9)
			m.rdb.PExpire(limited, m.key, m.lease)
			cancel()
		}
	}
}

func (m *mutex) Lock(ctx context.Context) error {
	if m.wrong == "keeps its subscription" {
		sub := m.rdb.Subscribe(context.Background(), "freed")
		_, _ = sub.Receive(ctx)
	}
	for {
		held, err := m.TryLock(ctx)
		if held || err != nil {
			return err
		}
		switch m.wrong {
		case "sleeps a second":
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		case "ignores its context":
			time.Sleep(100 * time.Millisecond)
			ctx = context.Background()
			continue
		}
		select {
		case <-ctx.Done():
			if m.wrong == "gives up without an error" {
				return nil
			}
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const compareAndDelete = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

func (m *mutex) Unlock(ctx context.Context) error {
	if m.stop != nil {
		m.stop()
	}
	var freed *redis.Cmd
	switch m.wrong {
	case "in memory", "frees nothing":
		return nil
	case "fails":
		return errors.New("not mine")
	case "closes the client":
		defer m.rdb.Close()
	case "FLUSHALL":
		return m.rdb.FlushAll(ctx).Err()
	case "bare EVALSHA":
		freed = m.rdb.EvalSha(ctx, redis.NewScript(compareAndDelete).Hash(), []string{m.key}, m.value)
	case "no value":
		freed = m.rdb.Eval(ctx, strings.ReplaceAll(compareAndDelete, "return", "local _ ="), []string{m.key}, m.value)
	case "syntax":
		freed = m.rdb.Eval(ctx, "if redis.call(", []string{m.key}, m.value)
	case "swapped":
		freed = m.rdb.Eval(ctx, compareAndDelete, []string{m.value}, m.key)
	default:
		freed = m.rdb.Eval(ctx, compareAndDelete, []string{m.key}, m.value)
	}
	n, err := freed.Int()
	if err != nil && m.wrong == "forgets its value" {
		m.value = ""
	}
	if err == nil && n == 0 {
		return errors.New("not mine")
	}
	return err
}

// Lost returns the channel of a hold that never ends.
func (m *mutex) Lost(context.Context) (<-chan struct{}, func() bool) {
	if m.wrong != "its hold does not end" {
		return nil, nil
	}
	return m.ended, func() bool { return false }
}

// fenced has the same token for all holds.
type fenced struct{ *mutex }

func (fenced) Token(context.Context) int64 { return 7 }

func TestEachPromiseFindsItsMistakes(t *testing.T) {
	for _, c := range []struct{ wrong, promise, text, line string }{
		{"no lock", "new-mutex", "NewMutex returns neither a lock nor an error.", ""},
		{"an error", "new-mutex", "NewMutex ends in an error: not today", ""},
		{"in memory", "free-lock-given", "Lock says that A holds the lock, but there is no key in Redis.", ""},
		{"gives nothing", "free-lock-given", "Lock of A asks for a free lock and does not get it: context deadline exceeded", ""},
		{"no value in TryLock", "free-lock-given", "The script of A's Lock returns no value, and go-redis makes an error of that: redis.Nil.", "TryLock"},
		{"unknown command", "free-lock-given", "Redis does not know the command GETSET2, which A sends: ERR unknown command", "TryLock"},
		{"a key of its own", "held-lock-refused", "A holds the lock, and B gets it too: A's key is lock:order:1001", "TryLock"},
		{"waits in TryLock", "held-lock-refused", "A holds the lock, and TryLock of B returns after 2s.", "TryLock"},
		{"nil as an error", "held-lock-refused", "A holds the lock, and TryLock of B ends in an error: redis: nil", "TryLock"},
		{"true and an error", "held-lock-refused", "TryLock of B answers two things at once: true, so the caller holds the lock, and an error: redis: nil.", "TryLock"},
		{"panics", "held-lock-refused", "TryLock of B ends in a panic: not today.", "TryLock"},
		{"frees nothing", "unlock-frees", "Unlock returns nil, but lock:order:1001 is still in Redis.", ""},
		{"fails", "unlock-frees", "A holds the lock, and its Unlock ends in an error: not mine", ""},
		{"bare EVALSHA", "unlock-frees", "Redis does not know the script: it answers EVALSHA with NOSCRIPT.", "Unlock"},
		{"no value", "unlock-frees", "The script of A's Unlock returns no value, and go-redis makes an error of that: redis.Nil.", "Unlock"},
		{"syntax", "unlock-frees", "Redis cannot run the script: ERR Error compiling script", "Unlock"},
		{"swapped", "unlock-frees", "The script gets A1 where it expects the lock's name, and lock:order:1001 where it expects the value.", "Unlock"},
		{"one key for all names", "names-apart", `The lock named "order:1001:another" is refused because the one named "order:1001" is held: both use the key lock.`, "TryLock"},
		{"closes the client", "client-stays-open", "The lock has closed the client that it was given", ""},
		{"FLUSHALL", "client-stays-open", "The lock has changed business:stock, a key of the business: it held 7, and now GET says", ""},
		{"keeps connections", "connections-given-back", "Lock of A gets no connection: redis: connection pool timeout", "TryLock"},
		{"sleeps a second", "wait-ends-with-context", "A holds the lock. The context of B's Lock has ended, and Lock is still under way", "TryLock"},
		{"ignores its context", "wait-ends-with-context", "A holds the lock. The context of B's Lock has ended, and Lock is still under way", "TryLock"},
		{"gives up without an error", "wait-ends-with-context", "A holds the lock, and B's Lock returns without an error and without the lock.", "TryLock"},
		{"one value", "new-values", "Two holds of A wrote the same value.", "TryLock"},
		{"four digits", "new-values", "The values of 20 holds are short, such as 7020", "TryLock"},
		{"the time", "new-values", "Two clients that ask at the same moment write the same value", "TryLock"},
		{"forgets its value", "unlock-again", "Redis refuses A's Unlock. A gets the error and unlocks again, but lock:order:1001 is still in Redis.", "Unlock"},
		{"does not wait for its watchdog", "unlock-waits", "EVAL of A's Unlock reaches Redis while a renewal has not been answered yet.", "Unlock"},
		{"its hold does not end", "hold-context-ends", "A's Unlock has returned, and the context of its hold has not ended.", "Unlock"},
		{"keeps its subscription", "waiters-unsubscribe", "B has waited 3 times, one time after the other, and 3 of its connections are still subscribed.", ""},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			p := locktest.Promises[slices.IndexFunc(locktest.Promises, func(p locktest.Promise) bool { return p.ID == c.promise })]
			require.False(t, p.Check(t, failures.Subject{New: newMutex("")}).IsBroken(), "by the lock without a mistake")
			broken := p.Check(t, failures.Subject{New: newMutex(c.wrong)})
			require.Contains(t, broken.Text.Error(), c.text)
			require.NotEmpty(t, broken.Advice.Error())
			require.Equal(t, c.line, broken.Source.Function)
			require.NotNil(t, broken.Trace)
		})
	}
}

func TestTokenThatDoesNotRiseBreaksAPromise(t *testing.T) {
	broken := locktest.Promises[len(locktest.Promises)-1].Check(t, failures.Subject{
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
			m, err := newMutex("")(rdb, name, lease)
			return fenced{m.(*mutex)}, err
		},
	})
	require.Equal(t, "A's hold has the token 7, and B's, which came after it, has 7.", broken.Text.Error())
}
