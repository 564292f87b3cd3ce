// Package queue is a lock that its author began with stage 4, and wrong: a client that crashes stays in the queue. States are functions.
package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type cell[T any] struct{ atomic.Pointer[T] }

func (c *cell[T]) take() *T { return c.Swap(nil) }

type try struct {
	ctx         context.Context
	id          string
	wait        time.Duration
	tries, most int
	err         error
}

type state func(*Mutex, *try) state

type Mutex struct {
	rdb   redis.UniversalClient
	names [2]string
	ttl   time.Duration
	now   cell[string]
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, names: [...]string{name, name + ":queue"}, ttl: ttl}, nil
}

func enqueue(m *Mutex, t *try) state {
	if t.err = m.rdb.RPush(t.ctx, m.names[1], t.id).Err(); t.err != nil {
		return nil
	}
	return attempt
}

func attempt(m *Mutex, t *try) state {
	t.tries++
	queue, err := m.rdb.LRange(t.ctx, m.names[1], 0, -1).Result()
	if err != nil {
		t.err = err
		return leave
	}
	if at := slices.Index(queue, t.id); at != 0 {
		return waitFor(time.Duration(at+1) * t.wait)
	}
	ok, err := m.rdb.SetNX(t.ctx, m.names[0], t.id, m.ttl).Result()
	switch {
	case err != nil:
		t.err = err
		return leave
	case ok:
		m.now.Store(&t.id)
		return leave
	}
	return waitFor(t.wait)
}

func waitFor(d time.Duration) state {
	return func(m *Mutex, t *try) state {
		if t.tries == t.most {
			t.err = errTaken
			return leave
		}
		d += rand.N(time.Nanosecond)
		select {
		case <-t.ctx.Done():
			t.err = t.ctx.Err()
			return leave
		case <-time.After(d):
			return attempt
		}
	}
}

func leave(m *Mutex, t *try) state {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), time.Second)
	defer cancel()
	if err := m.rdb.LRem(ctx, m.names[1], 1, t.id).Err(); err != nil {
		t.err = errors.Join(t.err, fmt.Errorf("leave the queue: %w", err))
	}
	return nil
}

var errTaken = errors.New("taken")

func (m *Mutex) run(ctx context.Context, most int) error {
	t := try{ctx: ctx, id: uuid.NewString(), wait: 35 * time.Millisecond, most: most}
	for s := state(enqueue); s != nil; {
		s = s(m, &t)
	}
	return t.err
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	err := m.run(ctx, 1)
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return err == nil, err
}

func (m *Mutex) Lock(ctx context.Context) error { return m.run(ctx, -1) }

func (m *Mutex) Unlock(ctx context.Context) error {
	id := m.now.take()
	if id == nil {
		return errors.New("not held")
	}
	if n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, m.names[:1], *id).Int(); err != nil || n == 0 {
		return errors.Join(errors.New("gone"), err)
	}
	return nil
}
