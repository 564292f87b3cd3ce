// Package structs is a lock that its author began with stage 3, and right: maps of structs, with structs as keys.
package structs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

type grant struct {
	token string
	at    time.Time
	lease time.Duration
}

func (g grant) over(now time.Time) bool { return now.Sub(g.at) >= g.lease }

type resource struct {
	kind, name string
}

func (r resource) String() string { return r.kind + ":" + r.name }

type Mutex struct {
	sync.Mutex
	rdb    redis.UniversalClient
	what   resource
	lease  time.Duration
	grants map[resource]grant
}

var (
	ErrNotHeld  = errors.New("not held")
	errBadLease = errors.New("bad lease")
)

const release = `
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end`

func NewMutex(rdb redis.UniversalClient, name string, lease time.Duration) (*Mutex, error) {
	switch {
	case rdb == nil:
		return nil, errors.New("no client")
	case lease < time.Millisecond:
		return nil, fmt.Errorf("lease %v for %q: %w", lease, name, errBadLease)
	}
	return &Mutex{rdb: rdb, what: resource{"lock", name}, lease: lease, grants: make(map[resource]grant)}, nil
}

func token() (string, error) {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return hex.EncodeToString(b), nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	tok, err := token()
	if err != nil {
		return false, err
	}
	now := time.Now()
	ok, err := m.rdb.SetNX(ctx, m.what.String(), tok, m.lease).Result()
	if err != nil {
		return false, fmt.Errorf("lock %v: %w", m.what, err)
	}
	if ok {
		m.Mutex.Lock()
		defer m.Mutex.Unlock()
		m.grants[m.what] = grant{tok, now, m.lease}
	}
	return ok, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		if ok, err := m.TryLock(ctx); err != nil {
			return err
		} else if ok {
			return nil
		}
		wait := time.Duration(attempt) * 20 * time.Millisecond
		if wait > 200*time.Millisecond {
			wait = 200 * time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("gave up after %d attempts: %w", attempt, ctx.Err())
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	m.Mutex.Lock()
	g, ok := m.grants[m.what]
	delete(m.grants, m.what)
	m.Mutex.Unlock()
	if !ok || g == (grant{}) {
		return ErrNotHeld
	}
	n, err := m.rdb.Eval(ctx, release, []string{m.what.String()}, g.token).Int64()
	if err != nil {
		return fmt.Errorf("unlock %+v (held since %v, over=%t): %w", m.what, g.lease, g.over(time.Now()), err)
	}
	if n != 1 {
		return ErrNotHeld
	}
	return nil
}
