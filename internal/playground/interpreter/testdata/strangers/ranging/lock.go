// Package ranging is a lock that its author began with stage 5, and wrong: a goroutine panics when its entry is gone from a map.
package ranging

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type watch struct {
	id   string
	next time.Time
	*beat
}

type beat struct {
	count int
	quit  chan struct{}
}

func (b *beat) stop() { close(b.quit) }

type Mutex struct {
	rdb     redis.UniversalClient
	key     string
	ttl     time.Duration
	mu      sync.RWMutex
	watches map[string]watch
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: name, ttl: ttl, watches: make(map[string]watch)}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	w := watch{id: uuid.NewString(), beat: &beat{quit: make(chan struct{})}}
	if ok, err := m.rdb.SetNX(ctx, m.key, w.id, m.ttl).Result(); err != nil || !ok {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches[w.id] = w
	go m.run(w)
	return true, nil
}

func (m *Mutex) run(w watch) {
	for {
		select {
		case <-w.quit:
			return
		case <-time.After(m.ttl / 3):
			w.count++
		}
		m.mu.RLock()
		var mine *watch
		for id, one := range m.watches {
			if id == w.id {
				one.next = time.Now()
				mine = &one
			}
		}
		m.mu.RUnlock()
		if mine.count == 0 {
			return
		}
		n, err := m.rdb.Eval(context.Background(), `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`,
			[]string{m.key}, mine.id, m.ttl.Milliseconds()).Int()
		if err == nil && n == 0 {
			m.mu.Lock()
			delete(m.watches, w.id)
			m.mu.Unlock()
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(110 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	m.mu.Lock()
	ids := make([]string, 0)
	for id, w := range m.watches {
		delete(m.watches, id)
		w.stop()
		ids = append(ids, id)
	}
	m.mu.Unlock()
	if len(ids) == 0 {
		return errors.New("nothing is held")
	}
	for _, id := range ids {
		n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, id).Int()
		if err != nil || n == 0 {
			return errors.Join(errors.New("lost"), err)
		}
	}
	return nil
}
