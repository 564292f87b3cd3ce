// Package redlock is RedLock, the lock over several independent Redis servers that the third
// document names. It follows the Redis documentation:
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
//
// A client holds the lock when most of the servers have set its key, in less time than the
// lease. It survives the loss of a few servers. It has no fencing token, and it relies on the
// clocks: those of the servers, and the client's own between two of its steps.
//
//	go run . --servers
package redlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// ErrNotHeld is returned by Unlock when most of the servers no longer have this owner's key.
var ErrNotHeld = errors.New("redlock: lock is not held")

// unlockScript deletes the key KEYS[1] while it has the value ARGV[1].
var unlockScript = redis.NewScript(`-- unlock
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0
`)

// Mutex is one owner of a lock. Give each goroutine its own.
type Mutex struct {
	nodes  []redis.UniversalClient
	key    string
	lease  time.Duration
	random *rand.Rand
	value  string    // of the last acquisition
	until  time.Time // the end of that acquisition
}

// New returns a lock over these servers, which are independent of each other. The pauses before a
// retry are random numbers of the source.
func New(nodes []redis.UniversalClient, name string, lease time.Duration, source rand.Source) *Mutex {
	return &Mutex{nodes: nodes, key: "lock:" + name, lease: lease, random: rand.New(source)}
}

// majority returns the number of servers that decide: any two majorities share a server.
func (m *Mutex) majority() int { return len(m.nodes)/2 + 1 }

// drift returns how far the clocks may drift apart in a lease: a hundredth of it, and 2 ms for the
// precision with which Redis expires keys.
func (m *Mutex) drift() time.Duration { return m.lease/100 + 2*time.Millisecond }

// ask asks all servers at once, each with a timeout of 1/600 of the lease, or 20 ms if that is more: a
// new connection takes some milliseconds. It returns the numbers of those that agree and refuse, and
// an error of the others.
func (m *Mutex) ask(ctx context.Context, do func(context.Context, redis.UniversalClient) (bool, error)) (yes, no int, err error) {
	type answer struct {
		ok  bool
		err error
	}
	answers := make(chan answer, len(m.nodes))
	for _, node := range m.nodes {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, max(m.lease/600, 20*time.Millisecond)) // 50 ms of 30 s
			defer cancel()
			ok, err := do(ctx, node)
			answers <- answer{ok, err}
		}()
	}
	for range m.nodes {
		switch a := <-answers; {
		case a.err != nil:
			err = a.err
		case a.ok:
			yes++
		default:
			no++
		}
	}
	return yes, no, err
}

// TryLock makes one attempt. It returns false and no error if other clients hold so many of
// the servers that it gets no majority. It returns an error if too few servers answer, or if
// the lease has ended before they do.
func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	value, began := uuid.NewString(), time.Now()
	yes, no, err := m.ask(ctx, func(ctx context.Context, node redis.UniversalClient) (bool, error) {
		err := node.Do(ctx, "SET", m.key, value, "NX", "PX", m.lease.Milliseconds()).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	})
	until := began.Add(m.lease - m.drift())
	if yes >= m.majority() && time.Now().Before(until) {
		m.value, m.until = value, until
		return true, nil
	}
	_, _, _ = m.release(ctx, value) // keys that remain expire
	switch {
	case yes >= m.majority():
		return false, fmt.Errorf("redlock: lock %s: the servers took longer than the lease: %w", m.key, context.DeadlineExceeded)
	case yes+no < m.majority():
		return false, fmt.Errorf("redlock: lock %s: %d of %d servers answer: %w", m.key, yes+no, len(m.nodes), err)
	}
	return false, nil
}

// Lock tries until it holds the lock, with a random pause between two attempts, so that clients
// that have split the servers among them do not split them again. It returns an error when ctx ends.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if held {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redlock: wait for %s: %w", m.key, errors.Join(ctx.Err(), err))
		case <-time.After(50*time.Millisecond + time.Duration(m.random.Int64N(int64(150*time.Millisecond)))):
		}
	}
}

// Until returns when the last acquired lock ends. A caller that needs more time
// must not begin its work.
func (m *Mutex) Until() time.Time { return m.until }

// Unlock frees the lock on every server.
func (m *Mutex) Unlock(ctx context.Context) error {
	yes, no, err := m.release(ctx, m.value)
	switch {
	case yes >= m.majority():
		return nil
	case no >= m.majority():
		return ErrNotHeld
	}
	return fmt.Errorf("redlock: unlock %s: %d of %d servers have freed it: %w", m.key, yes, len(m.nodes), err)
}

// release deletes the key on every server, even if it did not answer: it may have the key.
func (m *Mutex) release(ctx context.Context, value string) (yes, no int, err error) {
	return m.ask(context.WithoutCancel(ctx), func(ctx context.Context, node redis.UniversalClient) (bool, error) {
		deleted, err := unlockScript.Run(ctx, node, []string{m.key}, value).Int()
		return deleted == 1, err
	})
}
