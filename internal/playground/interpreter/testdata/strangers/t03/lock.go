// Package t03: stage 5. Defers in loops, closures over named results, panics that are caught, select fairness not needed.
package t03

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type guard struct{ sync.Mutex }

func (g *guard) do(f func()) {
	g.Lock()
	defer g.Unlock()
	f()
}

type Mutex struct {
	guard
	rdb    redis.UniversalClient
	key    string
	ttl    time.Duration
	undo   []func() error
	active string
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (m *Mutex, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("NewMutex: %v", r)
		}
	}()
	if _, err = strconv.Atoi(name); err == nil {
		panic("a number is no name")
	} else if !errors.Is(err, strconv.ErrSyntax) {
		return nil, err
	}
	err = nil
	return &Mutex{rdb: rdb, key: name + "#", ttl: ttl}, err
}

func (m *Mutex) TryLock(ctx context.Context) (got bool, err error) {
	id := uuid.NewString()
	defer func() {
		if got && err == nil {
			m.do(func() { m.active = id })
		}
	}()
	steps := []func() error{
		func() error { got, err = m.rdb.SetNX(ctx, m.key, id, m.ttl).Result(); return err },
		func() error {
			if got {
				return m.watch(id)
			}
			return nil
		},
	}
	for i, step := range steps {
		if e := step(); e != nil {
			return false, fmt.Errorf("step %d: %w", i, e)
		}
	}
	return
}

func (m *Mutex) watch(id string) error {
	stop, over := make(chan struct{}), make(chan error, 1)
	go func() (err error) {
		defer func() { over <- err }()
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("watchdog: %v", r)
			}
		}()
		for n := 1; ; n++ {
			select {
			case <-stop:
				return nil
			case <-time.After(m.ttl / 3):
			}
			func() {
				ctx, cancel := context.WithTimeout(context.Background(), m.ttl/3)
				defer cancel()
				left, e := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return -1`,
					[]string{m.key}, id, m.ttl.Milliseconds()).Int()
				if e == nil && left < 0 {
					panic(fmt.Sprint("lost at round ", n))
				}
			}()
		}
	}()
	m.do(func() {
		m.undo = append(m.undo, func() error { close(stop); return nil }, func() error { return <-over })
	})
	return nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		got, err := m.TryLock(ctx)
		if got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(95 * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) (err error) {
	var id string
	var undo []func() error
	m.do(func() { id, undo, m.active, m.undo = m.active, m.undo, "", nil })
	if id == "" {
		return errors.New("not held")
	}
	defer func() {
		n, e := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, id).Int()
		if e == nil && n == 0 {
			e = errors.New("gone")
		}
		err = errors.Join(err, e)
	}()
	for i := range undo {
		defer func() {
			if e := undo[len(undo)-1-i](); e != nil && err == nil {
				err = e
			}
		}()
	}
	return nil
}
