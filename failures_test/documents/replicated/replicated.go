// Package replicated is stage 4 with WAIT: a client holds the lock when some replicas have its key, too.
//
// Redis answers a write before its replicas have it. WAIT, sent on the same connection, returns how many
// of them have it by now, or when its time is over. If they are too few, the attempt is undone.
//
// A failover still loses the lock if another replica takes over than one that has confirmed. Unlock does not
// wait: if the replica that takes over lacks the DEL, the key is back until its lease ends.
//
//	go run . --servers
package replicated

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const pollInterval = 100 * time.Millisecond

var (
	// ErrNotHeld is returned by Unlock when this Mutex does not hold the lock.
	ErrNotHeld = errors.New("replicated: lock is not held")
	// ErrNotCopied is returned by TryLock when too few replicas have confirmed the key in time.
	ErrNotCopied = errors.New("replicated: too few replicas have the key")
)

// unlockScript deletes the key KEYS[1] while it has the value ARGV[1].
var unlockScript = redis.NewScript(`-- unlock
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0
`)

// Mutex is one owner of a lock. Give each goroutine its own.
type Mutex struct {
	rdb      redis.UniversalClient
	key      string
	ttl      time.Duration
	replicas int
	value    string // that this owner wrote into the key; "" while not held
}

// New returns the lock of that name, with a lease of ttl. It is held only while that many replicas have
// confirmed it.
func New(rdb redis.UniversalClient, name string, ttl time.Duration, replicas int) *Mutex {
	return &Mutex{rdb: rdb, key: "lock:" + name, ttl: ttl, replicas: replicas}
}

// TryLock makes one attempt, and waits up to a thirtieth of the lease for the replicas. It returns false and
// no error when another client holds the lock, and ErrNotCopied when it has undone the attempt. After any
// other error the attempt may have taken effect.
func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	pipe := m.rdb.Pipeline() // on one connection: WAIT counts the writes of its own
	set := pipe.Do(ctx, "SET", m.key, value, "NX", "PX", m.ttl.Milliseconds())
	wait := pipe.Do(ctx, "WAIT", m.replicas, (m.ttl / 30).Milliseconds())
	_, _ = pipe.Exec(ctx) // each command has its error
	if err := set.Err(); errors.Is(err, redis.Nil) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("replicated: lock %s: %w", m.key, err)
	}
	copies, err := wait.Int()
	if err != nil || copies < m.replicas {
		_, undone := m.delete(context.WithoutCancel(ctx), value)
		return false, fmt.Errorf("replicated: lock %s: %d of %d: %w", m.key, copies, m.replicas, errors.Join(ErrNotCopied, err, undone))
	}
	m.value = value
	return true, nil
}

// Lock tries every 100 ms until it holds the lock. It returns an error when ctx ends, or the first error
// that is not ErrNotCopied.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if held || err != nil && !errors.Is(err, ErrNotCopied) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("replicated: wait for %s: %w", m.key, errors.Join(ctx.Err(), err))
		case <-time.After(pollInterval):
		}
	}
}

// Unlock frees the lock if this owner still holds it, else it returns ErrNotHeld. It does not wait for the
// replicas.
func (m *Mutex) Unlock(ctx context.Context) error {
	if m.value == "" {
		return ErrNotHeld
	}
	deleted, err := m.delete(ctx, m.value)
	if err != nil {
		return fmt.Errorf("replicated: unlock %s: %w", m.key, err)
	}
	m.value = ""
	if !deleted {
		return ErrNotHeld
	}
	return nil
}

// delete deletes the key while it has that value.
func (m *Mutex) delete(ctx context.Context, value string) (bool, error) {
	deleted, err := unlockScript.Run(ctx, m.rdb, []string{m.key}, value).Int()
	return deleted == 1, err
}
