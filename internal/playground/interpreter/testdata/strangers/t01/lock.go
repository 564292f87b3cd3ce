// Package t01: stage 3. Aliasing of arrays and structs, early bound methods, ring of attempts.
package t01

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type attempt struct {
	value string
	when  [2]time.Time
	used  bool
}

type ring struct {
	slots [3]attempt
	at    uint8
}

func (r *ring) next() *attempt {
	r.at++
	a := &r.slots[r.at%uint8(len(r.slots))]
	*a = attempt{value: uuid.NewString()}
	return a
}

func (r ring) newest() attempt { return r.slots[r.at%3] }

type Mutex struct {
	rdb    redis.UniversalClient
	key    string
	ttl    time.Duration
	ring   ring
	before ring
	undo   func() attempt
	held   *attempt
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	m := Mutex{rdb: rdb, key: name, ttl: ttl}
	m.ring.at = 254
	return &m, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	m.before = m.ring
	m.undo = m.before.newest
	a := m.ring.next()
	a.when[0] = time.Now()
	ok, err := m.rdb.SetNX(ctx, m.key, a.value, m.ttl).Result()
	a.when[1], a.used = time.Now(), ok
	if err != nil || !ok {
		m.ring = m.before
		if old := m.undo(); old != m.ring.newest() {
			return false, errors.New("the copy is no copy")
		}
		return false, err
	}
	m.held = a
	return true, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	var waited [4]time.Duration
	for i := 0; ; i++ {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		w := waited
		w[i&3] += 70 * time.Millisecond
		waited = w
		select {
		case <-ctx.Done():
			return fmt.Errorf("%v: %w", waited, ctx.Err())
		case <-time.After(waited[i&3] / time.Duration(i/4+1)):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.held == nil || !m.held.used {
		return fmt.Errorf("not held: %v", m.ring.at)
	}
	copied := *m.held
	m.held.value, m.held = "overwritten", nil
	n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, copied.value).Int()
	if err == nil && n == 0 {
		err = fmt.Errorf("lost after %t %v", copied.used, copied.when[1].Sub(copied.when[0]))
	}
	return err
}
