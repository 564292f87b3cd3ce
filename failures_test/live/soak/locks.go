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
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// acquire takes the lock of a name for an owner of its own, in some way or other.
type acquire func(ctx context.Context, name string, random *rand.Rand) (held, error)

// held is one hold.
type held struct {
	ctx     context.Context // ends when the hold is lost, if the lock tells
	token   int64           // 0: the lock has no tokens
	reenter func()          // takes the lock once more, and gives that back; nil: it cannot
	unlock  func() error
}

// finalLock is used as a program would use it: one service for each process.
const finalLock = "stage6"

// findLock is the stage of that name.
func findLock(name string) (stages.Stage, error) {
	for _, stage := range stages.All {
		if stage.Subject.Name == name {
			return stage, nil
		}
	}
	return stages.Stage{}, fmt.Errorf("there is no lock %q: choose one of stage1 to stage%d", name, len(stages.All))
}

// newLock is what a worker locks with, and how that ends.
func newLock(s settings, rdb *redis.Client) (lock acquire, end func() error, err error) {
	if s.Lock == finalLock {
		svc, err := stage6.NewService(rdb, stage6.WithWatchdogTimeout(s.Lease))
		return final(svc, s.Lease), svc.Close, err
	}
	stage, err := findLock(s.Lock)
	return earlier(stage.Subject, rdb, s.Lease), func() error { return nil }, err
}

// final is stage 6: one attempt, some patience or as long as it takes; and every
// seventh time a lease that is not renewed.
func final(svc *stage6.Service, lease time.Duration) acquire {
	return func(ctx context.Context, name string, random *rand.Rand) (held, error) {
		var opts []stage6.LockOption
		if random.IntN(7) == 0 {
			opts = append(opts, stage6.Lease(lease))
		}
		m, err := svc.Mutex(name)
		if err != nil {
			return held{}, err
		}
		var h *stage6.Hold
		switch n := random.IntN(10); {
		case n == 0:
			h, err = m.TryLock(ctx, opts...)
		case n <= 2:
			h, err = m.TryLockFor(ctx, times(200*time.Millisecond, random.Float64()), opts...)
		default:
			h, err = m.Lock(ctx, opts...)
		}
		if err != nil {
			return held{}, err
		}
		return held{h.Context(), h.Token(), func() {
			if inner, err := m.Lock(h.Context()); err == nil {
				_ = inner.Unlock() // the outer one says what became of the hold
			}
		}, h.Unlock}, nil
	}
}

// earlier is a stage before 6: each acquire has a lock of its own, and nobody is
// told of a loss. Its unlock gives a server that stands still time to go on.
func earlier(subject failures.Subject, rdb *redis.Client, lease time.Duration) acquire {
	return func(ctx context.Context, name string, _ *rand.Rand) (held, error) {
		l, err := subject.New(rdb, name, lease)
		if err != nil {
			return held{}, err
		}
		return held{ctx: context.Background(), unlock: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			return l.Unlock(ctx)
		}}, l.Lock(ctx)
	}
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
