// Package s14: from stage 3, correct. min/max/clear, PTTL, jitter, closed and nil channels, labels.
package s14

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const (
	shortest = 25 * time.Millisecond
	longest  = 500 * time.Millisecond
)

var open = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

type stats struct {
	tries, waits [4]int
	reasons      map[string]int
}

type Mutex struct {
	rdb   redis.UniversalClient
	name  string
	ttl   time.Duration
	value string
	stats stats
	limit chan struct{}
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	m := &Mutex{rdb: rdb, name: name, ttl: max(ttl, time.Millisecond)}
	if _, ok := m.stats.reasons["none"]; ok || m.stats.reasons["none"] != 0 {
		return nil, errors.New("a nil map has something")
	}
	return m, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	select {
	case <-open:
	case m.limit <- struct{}{}:
		return false, errors.New("a nil channel took something")
	}
	before := m.stats
	before.tries[0]++
	m.stats.tries[len(m.stats.tries)-1] = before.tries[0]
	value := uuid.NewString()
	status, err := m.rdb.SetArgs(ctx, m.name, value, redis.SetArgs{Mode: "nx", TTL: m.ttl}).Result()
	if err == redis.Nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("set %s (%d): %w", m.name, m.stats.tries, err)
	}
	m.value = value
	return status == "OK", nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	seen := map[time.Duration]bool{}
outer:
	for {
		got, err := m.TryLock(ctx)
		if got || err != nil {
			return err
		}
		left, err := m.rdb.PTTL(ctx, m.name).Result()
		if err != nil {
			return err
		}
		switch {
		case left == -2:
			continue outer
		case left == -1:
			return errors.New("somebody has it for ever")
		}
		clear(seen)
		for range 3 {
			pause := min(longest, max(shortest, left/4))
			pause += time.Duration(rand.Int64N(1))
			seen[pause] = true
			select {
			case <-ctx.Done():
				break outer
			case <-time.After(pause):
				if len(seen) > 0 {
					continue outer
				}
			}
		}
	}
	return ctx.Err()
}

func (m *Mutex) Unlock(ctx context.Context) (err error) {
	if m.value == "" {
		return errors.New("unlock of unlocked lock")
	}
	value := m.value
	defer func(s string) {
		if err == nil {
			m.value = s
		}
	}("")
	cmd := m.rdb.Eval(ctx, "if redis.call('get', KEYS[1]) == ARGV[1] then return {redis.call('del', KEYS[1])} end return {}", []string{m.name}, value)
	list, err := cmd.Slice()
	if err != nil {
		return err
	}
	for i := range list {
		if n, ok := list[i].(int64); ok && n == 1 {
			return nil
		}
	}
	return fmt.Errorf("%v: lost", list)
}
