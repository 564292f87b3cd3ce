// Package s06: from stage 5, one bug: the timer renews whoever has the key.
package s06

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type Mutex struct {
	mu     sync.Mutex
	rdb    redis.UniversalClient
	key    string
	ttl    time.Duration
	tokens []held
}

type held struct {
	token string
	timer *time.Timer
	done  *bool
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if strings.TrimSpace(name) == "" {
		return nil, errors.New("a lock needs a name")
	}
	return &Mutex{rdb: rdb, key: strings.Join([]string{"app", "locks", name}, ":"), ttl: ttl}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	token := uuid.NewString()
	set, err := m.rdb.SetNX(ctx, m.key, token, m.ttl).Result()
	if err != nil || !set {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	done := false
	h := held{token: token, done: &done}
	h.timer = time.AfterFunc(m.ttl/3, func() { m.renew(h) })
	m.tokens = append(m.tokens, h)
	return true, nil
}

func (m *Mutex) renew(h held) {
	m.mu.Lock()
	over := *h.done
	m.mu.Unlock()
	if over {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.ttl/3)
	defer cancel()
	still, err := m.rdb.PExpire(ctx, m.key, m.ttl).Result()
	if err == nil && !still {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !*h.done {
		for i := range m.tokens {
			if m.tokens[i].token == h.token {
				m.tokens[i].timer.Reset(m.ttl / 3)
			}
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) error {
	var got bool
	var err error
	for got, err = m.TryLock(ctx); !got && err == nil; got, err = m.TryLock(ctx) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(60 * time.Millisecond):
		}
	}
	return err
}

var ErrNotHeld = errors.New("not held")

func (m *Mutex) pop() (h held, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.tokens); n > 0 {
		h, m.tokens = m.tokens[n-1], m.tokens[:n-1]
		*h.done = true
		return h, h.timer != nil
	}
	return
}

func (m *Mutex) Unlock(ctx context.Context) error {
	h, ok := m.pop()
	if !ok {
		if h.timer == nil && h.token == "" {
			return ErrNotHeld
		}
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	s := redis.NewScript(`
		local v = redis.call('GET', KEYS[1])
		if v == ARGV[1] then redis.call('DEL', KEYS[1]) return 'freed' end
		if v then return 'foreign' end
		return 'gone'`)
	switch answer, err := s.Run(ctx, m.rdb, []string{m.key}, h.token).Text(); {
	case err != nil:
		return err
	case answer == "freed":
		return nil
	case answer == "foreign", answer == "gone":
		return errors.Join(ErrNotHeld, errors.New(answer))
	}
	return nil
}
