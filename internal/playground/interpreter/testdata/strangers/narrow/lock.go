// Package narrow is a lock that its author began with stage 3: a client of its own that has only what the lock needs, a
// script that answers with a table, and values that are read into types of its own.
package narrow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// a client of our own with only what we need
type client interface {
	SetNX(ctx context.Context, key string, value interface{}, expiration time.Duration) *redis.BoolCmd
	Get(ctx context.Context, key string) *redis.StringCmd
	redis.Scripter
}

type phase int
type owner string

const (
	idle phase = iota
	holding
	dead
)

func (p phase) String() string { return [...]string{"idle", "holding", "dead"}[p] }

type script struct {
	*redis.Script
	runs int
}

func (s *script) do(ctx context.Context, c redis.Scripter, key string, args ...any) *redis.Cmd {
	s.runs++
	return s.Run(ctx, c, []string{key}, args...)
}

var give = &script{Script: redis.NewScript(`
local v = redis.call("GET", KEYS[1])
if v == false then return {0, "none"} end
if v ~= ARGV[1] then return {0, "other", v} end
redis.call("DEL", KEYS[1])
return {1, "freed"}`)}

type Mutex struct {
	client
	key   string
	ttl   time.Duration
	phase phase
	mine  owner
	del   func(context.Context, ...string) *redis.IntCmd
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	m := &Mutex{client: rdb, key: name, ttl: ttl, del: rdb.Del}
	if _, err := fmt.Sscanf("2 abc", "%d %s", &m.phase, &m.mine); err != nil || m.phase != dead || m.mine != "abc" {
		return nil, fmt.Errorf("scan: %v %v %q", err, m.phase, m.mine)
	}
	if n, err := fmt.Sscan("1", &m.phase); n != 1 || err != nil {
		return nil, fmt.Errorf("scan: %v", err)
	}
	m.phase, m.mine = idle, ""
	return m, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	o := owner(uuid.NewString())
	ok, err := m.SetNX(ctx, m.key, string(o), m.ttl).Result()
	if err == nil && ok {
		m.phase, m.mine = holding, o
	}
	return ok, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	for t := time.Tick(96 * time.Millisecond); ; {
		if ok, err := m.TryLock(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t:
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.phase != holding {
		return fmt.Errorf("unlock while %v", m.phase)
	}
	res, err := give.do(ctx, m.client, m.key, string(m.mine)).Slice()
	if err != nil {
		return err
	}
	m.phase = idle
	switch code, word := res[0].(int64), res[1].(string); {
	case code == 1:
		return nil
	case word == "none":
		m.phase = dead
		return errors.New("expired")
	default:
		m.phase = dead
		return fmt.Errorf("taken: %s", word)
	}
}
