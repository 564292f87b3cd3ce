package adapt

import (
	"context"
	"sync"
	"time"

	"lockkata/failures_test/world"
)

// Renewed makes a Locker with a watchdog of one that leaves renewing to its caller, with an
// Extend or a Refresh: a goroutine calls it again and again, from a Lock to the next Unlock,
// as the callers of such a lock have to. An error of extend does not end it, as the lease may
// be there yet.
//
//	lock := NewLock(rdb, name, lease)
//	return adapt.Renewed(lock, lock.Extend, lease/3), nil
//
// The lock is one owner's: give each client one, by a constructor.
func Renewed(lock world.Locker, extend func(context.Context) error, every time.Duration) world.Locker {
	return &renewed{Locker: lock, extend: extend, every: every}
}

type renewed struct {
	world.Locker
	extend func(context.Context) error
	every  time.Duration

	mu     sync.Mutex
	cancel context.CancelFunc // nil while nothing is renewed
	ended  chan struct{}
}

// Lock waits for the lock.
func (r *renewed) Lock(ctx context.Context) error {
	err := r.Locker.Lock(ctx)
	if err == nil {
		r.start()
	}
	return err
}

// TryLock makes one attempt.
func (r *renewed) TryLock(ctx context.Context) (bool, error) {
	held, err := r.Locker.TryLock(ctx)
	if held {
		r.start()
	}
	return held, err
}

// Unlock ends the renewals and frees the lock.
func (r *renewed) Unlock(ctx context.Context) error {
	r.stop()
	return r.Locker.Unlock(ctx)
}

func (r *renewed) start() {
	r.stop()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r.mu.Lock()
	r.cancel, r.ended = cancel, ended
	r.mu.Unlock()
	go func() {
		defer close(ended)
		tick := time.NewTicker(r.every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			attempt, done := context.WithTimeout(ctx, r.every)
			_ = r.extend(attempt) // the next one may get through
			done()
		}
	}()
}

func (r *renewed) stop() {
	r.mu.Lock()
	cancel, ended := r.cancel, r.ended
	r.cancel = nil
	r.mu.Unlock()
	if cancel != nil {
		cancel()
		<-ended
	}
}

// Close ends the renewals of a hold that nobody has released.
func (r *renewed) Close() error {
	r.stop()
	return nil
}
