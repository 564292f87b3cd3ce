// Package s04: from stage 4, one bug: all attempts of a process share one token.
package s04

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

type state int

const (
	idle state = iota
	trying
	holding
)

func (s state) String() string {
	return [...]string{"idle", "trying", "holding"}[s]
}

type LockError struct {
	Op    string
	State state
	Err   error
}

func (e *LockError) Error() string { return fmt.Sprintf("%s while %v: %v", e.Op, e.State, e.Err) }
func (e *LockError) Unwrap() error { return e.Err }

var process = "p" + strconv.Itoa(4711)

type Mutex struct {
	rdb   redis.UniversalClient
	key   string
	ttl   time.Duration
	state state
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if len(name) == 0 {
		return nil, &LockError{Op: "new", Err: errors.New("empty name")}
	}
	return &Mutex{rdb: rdb, key: name + ".lock", ttl: ttl}, nil
}

func (m *Mutex) fail(op string, err error) error {
	var inner *LockError
	if errors.As(err, &inner) {
		return inner
	}
	return &LockError{op, m.state, err}
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	m.state = trying
	v, err := m.rdb.Eval(ctx, `
		if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
		return 0`, []string{m.key}, process, m.ttl.Milliseconds()).Bool()
	if err != nil {
		return false, m.fail("lock", err)
	}
	if v {
		m.state = holding
	} else {
		m.state = idle
	}
	return v, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	pauses := []time.Duration{10, 20, 40, 80, 160}
	tries := make([]func() (bool, error), 0, len(pauses))
	for _, p := range pauses {
		tries = append(tries, func() (bool, error) {
			got, err := m.TryLock(ctx)
			if got || err != nil {
				return got, err
			}
			jitter := time.Duration(rand.IntN(1))
			select {
			case <-time.After(p*time.Millisecond + jitter):
				return false, nil
			case <-ctx.Done():
				return false, m.fail("wait", ctx.Err())
			}
		})
	}
	for i := 0; ; i = min(i+1, len(tries)-1) {
		if got, err := tries[i](); got || err != nil {
			return err
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.state != holding {
		return m.fail("unlock", errors.New("nothing to unlock"))
	}
	m.state = idle
	r, err := m.rdb.Eval(ctx, `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`,
		[]string{m.key}, process).Result()
	if err != nil {
		return m.fail("unlock", err)
	}
	switch n := r.(type) {
	case int64:
		if n == 0 {
			return m.fail("unlock", fmt.Errorf("key %s: reply %d", m.key, n))
		}
	case nil, string:
		return m.fail("unlock", fmt.Errorf("odd reply %v (%T)", n, n))
	}
	return nil
}
