// Package reentrant is a lock that its author began with stage 5: a hash, embedded scripts by their hashes, pipelines.
package reentrant

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

//go:embed take.lua
var takeLua string

//go:embed give.lua
var giveLua string

var ErrNotOwner = errors.New("not the owner")

type entry struct {
	count int
	stop  func()
}

type Mutex struct {
	rdb    redis.UniversalClient
	name   string
	lease  time.Duration
	owner  string
	mu     sync.Mutex
	owners map[string]entry
	hashes map[string]string
}

func NewMutex(rdb redis.UniversalClient, name string, lease time.Duration) (*Mutex, error) {
	m := &Mutex{rdb: rdb, name: name, lease: lease, owner: uuid.NewString(), owners: map[string]entry{}, hashes: map[string]string{}}
	return m, nil
}

func (m *Mutex) eval(ctx context.Context, lua string, args ...any) (any, error) {
	m.mu.Lock()
	hash, known := m.hashes[lua]
	m.mu.Unlock()
	if !known {
		var err error
		if hash, err = m.rdb.ScriptLoad(ctx, lua).Result(); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		m.mu.Lock()
		m.hashes = maps.Clone(m.hashes)
		m.hashes[lua] = hash
		m.mu.Unlock()
	}
	v, err := m.rdb.EvalSha(ctx, hash, []string{m.name}, args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return m.rdb.Eval(ctx, lua, []string{m.name}, args...).Result()
	}
	return v, err
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	v, err := m.eval(ctx, takeLua, m.owner, m.lease.Milliseconds())
	if err != nil {
		return false, err
	}
	list, ok := v.([]any)
	if !ok || len(list) != 2 {
		return false, fmt.Errorf("take said %v", v)
	}
	if list[0].(int64) == 0 {
		return false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.owners[m.owner]
	if e.count++; e.count == 1 {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		e.stop = func() { cancel(); <-done }
		go m.renew(ctx, done)
	}
	m.owners[m.owner] = e
	return true, nil
}

func (m *Mutex) renew(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	ticker := time.NewTicker(m.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			pipe := m.rdb.Pipeline()
			has := pipe.HExists(ctx, m.name, m.owner)
			left := pipe.PTTL(ctx, m.name)
			if _, err := pipe.Exec(ctx); err != nil {
				continue
			}
			if !has.Val() {
				return
			}
			if left.Val() < m.lease {
				m.rdb.PExpire(ctx, m.name, m.lease)
			}
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
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(115 * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	m.mu.Lock()
	e, ok := m.owners[m.owner]
	if ok {
		if e.count--; e.count == 0 {
			delete(m.owners, m.owner)
		} else {
			m.owners[m.owner] = e
		}
	}
	m.mu.Unlock()
	if !ok {
		return ErrNotOwner
	}
	if e.count == 0 {
		e.stop()
	}
	switch v, err := m.eval(ctx, giveLua, m.owner); x := v.(type) {
	case int64:
		if x < 0 {
			return ErrNotOwner
		}
		return nil
	default:
		return fmt.Errorf("give: %v, %w", x, err)
	}
}
