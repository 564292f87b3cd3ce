package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// finalLock is used as a program would use it: one service for each process.
const finalLock = "stage6"

// locks are what a worker locks with.
type locks struct {
	rdb   *redis.Client
	lease time.Duration
	stage columns.Column
	svc   *stage6.Service // nil: the lock is another one
}

// held is one hold: one of stage 6, or of a stage before.
type held interface {
	Context() context.Context // ends when the hold is lost, if the lock tells
	Token() int64             // 0: the lock has no tokens
	Unlock() error
}

// findLock is the stage of that name.
func findLock(name string) (columns.Column, error) {
	var names []string
	for _, stage := range columns.Shown() {
		if stage.Subject.Name == name {
			return stage, nil
		}
		names = append(names, stage.Subject.Name)
	}
	return columns.Column{}, fmt.Errorf("there is no lock %q: choose one of %s", name, strings.Join(names, ", "))
}

func newLocks(s settings, rdb *redis.Client) (l locks, err error) {
	l = locks{rdb: rdb, lease: s.Lease}
	if s.Lock == finalLock {
		l.svc, err = stage6.NewService(rdb, stage6.WithWatchdogTimeout(s.Lease))
	} else {
		l.stage, err = findLock(s.Lock)
	}
	return l, err
}

// acquire takes the lock of a name, for an owner of its own or the one that ctx
// carries: in one attempt, with some patience or as long as it takes; and every
// seventh time with a lease that is not renewed.
func (l locks) acquire(ctx context.Context, name string, random *rand.Rand) (held, error) {
	if l.svc == nil {
		one, err := l.stage.Subject.New(l.rdb, name, l.lease)
		if err != nil {
			return nil, err
		}
		return earlier{one}, one.Lock(ctx)
	}
	var opts []stage6.LockOption
	if random.IntN(7) == 0 {
		opts = append(opts, stage6.Lease(l.lease))
	}
	m, err := l.svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	switch n := random.IntN(10); {
	case n == 0:
		return m.TryLock(ctx, opts...)
	case n <= 2:
		return m.TryLockFor(ctx, times(200*time.Millisecond, random.Float64()), opts...)
	}
	return m.Lock(ctx, opts...)
}

// earlier is a hold of a stage before 6: a lock of its own, which tells nobody of
// its loss.
type earlier struct{ failures.Locker }

func (earlier) Context() context.Context { return context.Background() }
func (earlier) Token() int64             { return 0 }

// Unlock gives a server that stands still time to go on.
func (e earlier) Unlock() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return e.Locker.Unlock(ctx)
}

// became is what an unlock came to. The stages' own error for a hold that is gone
// ends in the same words.
func became(err error) string {
	switch {
	case err == nil:
		return freed
	case errors.Is(err, stage6.ErrLost), strings.HasSuffix(err.Error(), "lock is not held"):
		return gone
	}
	return unknown
}
