package catalogue_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
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
	return adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		m := &mutex{rdb: rdb, key: "lock:" + name, lease: lease, wrong: wrong, id: uuid.NewString(), ended: make(chan struct{})}
		switch wrong {
		case "one key for all names":
			m.key = "lock"
		case "a key of its own":
			m.key += m.id
		}
		return m, nil
	})
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
	}
	set := []any{"SET", m.key, value, "NX", "PX", m.lease.Milliseconds()}
	var err error
	if m.wrong == "keeps connections" {
		err = m.rdb.(*redis.Client).Conn().Do(ctx, set...).Err()
	} else {
		err = m.rdb.Do(ctx, set...).Err()
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
	case "returns 0":
		freed = m.rdb.Eval(ctx, strings.Replace(compareAndDelete, "return", "return 0 *", 1), []string{m.key}, m.value)
	case "compares a number":
		freed = m.rdb.Eval(ctx, strings.Replace(compareAndDelete, "ARGV[1]", "tonumber(ARGV[1])", 1), []string{m.key}, m.value)
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

func newFenced(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
	m, err := newMutex("")(p, name, lease)
	return fenced{m.(*mutex)}, err
}

func TestSmallMistakeIsFoundByItsFailure(t *testing.T) {
	for _, c := range []struct {
		wrong, failure string
		rule           oracle.Rule
		says, line     string
	}{
		{"in memory", "free-lock-given", oracle.Truth, "Lock reported success, but A did not get the lock", ""},
		{"gives nothing", "free-lock-given", oracle.Deadlock, "A waited 10s in vain: no live client holds the lock", ""},
		{"no value in TryLock", "free-lock-given", oracle.NeedlessError, "the script of A's Lock returns no value", "TryLock"},
		{"a key of its own", "second-client", oracle.Exclusion, "B is inside the lock while A still is", "TryLock"},
		{"waits in TryLock", "second-client", oracle.Waiting, "TryLock of B has not returned after 2s, while A holds the lock", "TryLock"},
		{"nil as an error", "second-client", oracle.Waiting, "TryLock of B failed with redis: nil instead of returning false", "TryLock"},
		{"true and an error", "second-client", oracle.Truth, "TryLock returned both the lock and an error to B: redis: nil", "TryLock"},
		{"panics", "second-client", oracle.Truth, "TryLock of B ends in a panic: not today", "TryLock"},
		{"frees nothing", "free-lock-given", oracle.Truth, "Unlock returned nil, but A's key stayed for 1.1s", ""},
		{"fails", "free-lock-given", oracle.Truth, "Unlock told A that it does not hold the lock, but the key in Redis is A's own", ""},
		{"returns 0", "free-lock-given", oracle.Truth, "this call freed the key and Redis answered 0, but Unlock told A that it does not hold the lock", "Unlock"},
		{"compares a number", "free-lock-given", oracle.Truth, "Redis answered 0 and the key still has A's own value, but Unlock told A that it does not hold the lock", "Unlock"},
		{"bare EVALSHA", "free-lock-given", oracle.NeedlessError, "Unlock of A sends EVALSHA, and Redis does not know the script", "Unlock"},
		{"no value", "free-lock-given", oracle.NeedlessError, "the script of A's Unlock returns no value", "Unlock"},
		{"syntax", "free-lock-given", oracle.NeedlessError, "the script of A's Unlock is not correct Lua: ERR Error compiling script", "Unlock"},
		{"swapped", "free-lock-given", oracle.NeedlessError, "the script of A's Unlock gets A1 where it expects the key, and lock:order:1001 where it expects the value", "Unlock"},
		{"one key for all names", "names-apart", oracle.Truth, "TryLock told O that another client holds the lock order:1001:another, but A holds the lock order:1001: both use the key lock", "TryLock"},
		{"closes the client", "client-stays-open", oracle.NeedlessError, "Run of A failed with redis: client is closed", ""},
		{"FLUSHALL", "client-stays-open", oracle.WrongDelete, "A's FLUSHALL removes stock:order:1001, a key that C has set", "Unlock"},
		{"keeps connections", "connections-given-back", oracle.NeedlessError, "Unlock of A failed with redis: connection pool timeout, but Redis answered each of its commands", ""},
		{"sleeps a second", "wait-ends-with-context", oracle.Context, "Lock of B has not returned 950ms after its context ended", "TryLock"},
		{"ignores its context", "wait-ends-with-context", oracle.Context, "Lock of B has not returned 550ms after its context ended", "TryLock"},
		{"gives up without an error", "wait-ends-with-context", oracle.Exclusion, "B is inside the lock while A still is", "TryLock"},
		{"one value", "new-values", oracle.RepeatedValue, "two holds of A wrote the same value", "TryLock"},
		{"four digits", "new-values", oracle.RepeatedValue, "A wrote the short value 7001", "TryLock"},
		{"the time", "new-values", oracle.RepeatedValue, "O and A wrote the same value", "TryLock"},
		{"forgets its value", "unlock-again", oracle.Leak, "Unlock of A has returned, and its key is still there after 2s", "Unlock"},
		{"does not wait for its watchdog", "unlock-waits", oracle.EarlyUnlock, "A's Unlock did not wait for a renewal: its PEXPIRE arrives last, and changes lock:order:1001", "watch"},
		{"its hold does not end", "hold-context-ends", oracle.Damage, `the ledger has the order "tea" twice, from B and from G`, ""},
		{"keeps its subscription", "waiters-unsubscribe", oracle.KeptSubscription, "B has waited 3 times, and 3 of its connections are still subscribed", "Lock"},
		{"one token", "process-pause-fenced", oracle.Damage, "the ledger refuses the token of B, the newest holder", ""},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			f, found := catalogue.Find(c.failure)
			require.True(t, found)
			right, wrong := newMutex(""), newMutex(c.wrong)
			switch c.wrong {
			case "does not wait for its watchdog":
				right = stages.MustFind("5").Subject.New
			case "one token":
				right, wrong = stages.MustFind("6").Subject.New, newFenced
			}
			require.Equal(t, failures.Safe, failures.Run(t, f, failures.Subject{New: right, Has: f.Needs, Ignore: failures.IsAuxKey}).Outcome, "without the mistake")
			v := failures.Run(t, f, failures.Subject{New: wrong, Has: f.Needs})
			require.Equal(t, failures.Broken, v.Outcome, v.Sentence())
			against, _ := v.Against()
			require.Equal(t, c.rule, against.Rule, against.Text)
			require.Contains(t, against.Text, c.says)
			source := failures.SourceOf(v.Trace, against)
			require.Equal(t, c.line, source.Function)
		})
	}
}
