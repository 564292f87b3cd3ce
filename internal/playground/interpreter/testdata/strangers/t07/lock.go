// Package t07: stage 5 with a worker goroutine and channels of functions; one bug: it panics in a goroutine when the key is gone.
package t07

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type request struct {
	do    func(*state) (bool, error)
	reply chan<- answer
}

type answer struct {
	ok  bool
	err error
}

type state struct {
	id    string
	timer *time.Timer
	beats <-chan time.Time
}

type Mutex struct {
	rdb  redis.UniversalClient
	key  string
	ttl  time.Duration
	work chan request
	quit chan struct{}
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	m := &Mutex{rdb: rdb, key: name, ttl: ttl, work: make(chan request), quit: make(chan struct{})}
	go m.loop()
	return m, nil
}

func (m *Mutex) loop() {
	var s state
	for {
		select {
		case <-m.quit:
			return
		case r, open := <-m.work:
			if !open {
				return
			}
			ok, err := r.do(&s)
			r.reply <- answer{ok, err}
		case <-s.beats:
			ctx, cancel := context.WithTimeout(context.Background(), m.ttl/3)
			n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`,
				[]string{m.key}, s.id, m.ttl.Milliseconds()).Int()
			cancel()
			if err == nil && n == 0 {
				s = state{}
			}
			s.timer.Reset(m.ttl / 3)
		}
	}
}

func (m *Mutex) ask(do func(*state) (bool, error)) (bool, error) {
	reply := make(chan answer)
	m.work <- request{do, reply}
	a := <-reply
	return a.ok, a.err
}

func (m *Mutex) Close() error {
	select {
	case <-m.quit:
		return errors.New("closed already")
	default:
		close(m.quit)
	}
	return nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	return m.ask(func(s *state) (bool, error) {
		id := uuid.NewString()
		ok, err := m.rdb.SetNX(ctx, m.key, id, m.ttl).Result()
		if ok {
			*s = state{id: id, timer: time.NewTimer(m.ttl / 3)}
			s.beats = s.timer.C
		}
		return ok, err
	})
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	ok, err := m.ask(func(s *state) (bool, error) {
		if s.id == "" {
			return false, nil
		}
		defer func() { s.id, s.beats = "", nil }()
		s.timer.Stop()
		n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, s.id).Int()
		return n == 1, err
	})
	if err == nil && !ok {
		err = fmt.Errorf("%s is not held", m.key)
	}
	return err
}
