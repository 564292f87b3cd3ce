package adapt

import (
	"context"
	"sync"

	"lockkata/failures_test/world"
)

// Threads makes a Locker of one whose owner is the goroutine that calls: whoever locks on
// one goroutine cannot unlock on another one. Each client gets a goroutine, on which all of
// its calls run one after the other.
func Threads(lock world.Locker) world.Locker {
	return &threads{lock: lock, of: map[string]chan func(){}}
}

type threads struct {
	lock world.Locker

	mu sync.Mutex
	of map[string]chan func() // lane → what its goroutine is to run
}

// Lock waits for the lock.
func (t *threads) Lock(ctx context.Context) (err error) {
	t.do(ctx, func() { err = t.lock.Lock(ctx) })
	return err
}

// TryLock makes one attempt.
func (t *threads) TryLock(ctx context.Context) (held bool, err error) {
	t.do(ctx, func() { held, err = t.lock.TryLock(ctx) })
	return held, err
}

// Unlock frees the lock.
func (t *threads) Unlock(ctx context.Context) (err error) {
	t.do(ctx, func() { err = t.lock.Unlock(ctx) })
	return err
}

// do runs the call on the client's goroutine, and panics as it does.
func (t *threads) do(ctx context.Context, call func()) {
	over := make(chan any, 1)
	t.thread(ctx) <- func() {
		defer func() { over <- recover() }()
		world.Delegate(ctx)
		call()
	}
	if panics := <-over; panics != nil {
		panic(panics)
	}
}

// thread is the goroutine of the client on whose behalf ctx is.
func (t *threads) thread(ctx context.Context) chan<- func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := t.of[world.Lane(ctx)]
	if calls == nil {
		calls = make(chan func())
		t.of[world.Lane(ctx)] = calls
		go func() {
			for call := range calls {
				call()
			}
		}()
	}
	return calls
}

// Close ends the goroutines.
func (t *threads) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for lane, calls := range t.of {
		close(calls)
		delete(t.of, lane)
	}
	return nil
}
