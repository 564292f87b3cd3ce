package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lockkata/failures_test/live/fleet"
)

// task says which lock a worker uses, and where.
type task struct {
	Kind  string
	Addr  string
	Lease time.Duration // 0: the library's own default
	Count bool          // the round trips
}

// order is what a worker is asked to do. It does them side by side.
type order struct {
	Do   string
	Name string        // of the lock
	N    int           // how often, or how many locks
	Side int           // how many goroutines
	For  time.Duration // how long; of a wait, after how long it asks anew
}

// The orders.
const (
	pairsOrder  = "pairs"  // locks and unlocks N times on each of Side goroutines, which have names of their own
	lockOrder   = "lock"   // waits for the lock and keeps it
	unlockOrder = "unlock" // gives it back
	turnOrder   = "turn"   // waits for the lock, keeps it for 2 ms, gives it back
	holdOrder   = "hold"   // takes N locks, name:0 and so on, and keeps them
	watchOrder  = "watch"  // looks, for some time, at what holding costs
)

// A waiter asks anew after patience, which is far longer than any wait should be: a
// library that has lost a wake-up shows it, and does not end the run. Or never.
const (
	patience = 3 * time.Second
	forEver  = time.Hour
)

// answer is what a worker says about an order. Moments are in nanoseconds of the
// clock that all processes of a machine share.
type answer struct {
	Error       string
	Took        time.Duration
	Allocations float64 // for each pair
	Trips       int64   // round trips
	Goroutines  int     // the median of what was seen
	Locked      int64   // when the lock was there
	Unlocked    int64   // when the unlock was called
}

// serve is the life of a worker. In any other process it returns at once.
func serve() {
	fleet.Serve(func(t task, orders <-chan order, tell func(any)) (err error) {
		w := &working{trips: &trips{}, holds: map[string]held{}}
		counted := w.trips
		if !t.Count {
			counted = nil
		}
		if w.locker, err = openers[t.Kind](t, counted); err != nil {
			return err
		}
		for o := range orders {
			go func() {
				a, err := w.perform(o)
				if err != nil {
					a.Error = err.Error()
				}
				tell(a)
			}()
		}
		return nil
	})
}

// working is what a worker has.
type working struct {
	locker locker
	trips  *trips

	mu    sync.Mutex
	holds map[string]held // by name
}

func (w *working) perform(o order) (answer, error) {
	switch o.Do {
	case pairsOrder:
		return w.lap(o)
	case lockOrder:
		return w.lock(o.Name, o.For)
	case unlockOrder:
		return w.unlock(o.Name)
	case turnOrder:
		if a, err := w.lock(o.Name, o.For); err != nil {
			return a, err
		}
		time.Sleep(2 * time.Millisecond)
		return w.unlock(o.Name)
	case holdOrder:
		var group errgroup.Group
		group.SetLimit(32)
		for i := range o.N {
			group.Go(func() error {
				_, err := w.lock(fmt.Sprintf("%s:%d", o.Name, i), forEver)
				return err
			})
		}
		return answer{}, group.Wait()
	case watchOrder:
		before := w.trips.made.Load()
		var running []float64
		for end := time.Now().Add(o.For); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			running = append(running, float64(runtime.NumGoroutine()))
		}
		return answer{Goroutines: int(median(running)), Trips: w.trips.made.Load() - before}, nil
	}
	return answer{}, fmt.Errorf("there is no order %q", o.Do)
}

// lock waits for the lock and keeps it.
func (w *working) lock(name string, patience time.Duration) (answer, error) {
	lock, err := w.locker(name)
	if err != nil {
		return answer{}, err
	}
	h, err := patiently(lock, patience)
	a := answer{Locked: time.Now().UnixNano()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds[name] = h
	return a, err
}

// patiently locks, and asks anew whenever patience is over. The context has no
// deadline, since some libraries shorten the lease to that; and it does not end with
// the wait, since a lock may end with it.
func patiently(lock acquire, patience time.Duration) (held, error) {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(patience, cancel)
		h, err := lock(ctx)
		if timer.Stop() {
			return h, err
		}
		if err != nil {
			continue
		}
		if err := h.Unlock(); err != nil { // it came in the last moment
			return nil, err
		}
	}
}

// unlock gives the lock back. Whoever gets it next may be of this process too.
func (w *working) unlock(name string) (answer, error) {
	w.mu.Lock()
	h := w.holds[name]
	delete(w.holds, name)
	w.mu.Unlock()
	if h == nil {
		return answer{}, fmt.Errorf("%s is not locked", name)
	}
	a := answer{Unlocked: time.Now().UnixNano()}
	return a, h.Unlock()
}

// lap locks and unlocks N times on each of Side goroutines. A process that was idle
// is slow at first, since it has to be scheduled again: it does half of that before.
func (w *working) lap(o order) (a answer, err error) {
	locks := make([]acquire, o.Side)
	for i := range locks {
		var e error
		locks[i], e = w.locker(fmt.Sprintf("lap:%d:%d", os.Getpid(), i))
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, pairs(locks, o.N/2)); err != nil {
		return a, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	trips, began := w.trips.made.Load(), time.Now()
	err = pairs(locks, o.N)
	a = answer{Took: time.Since(began), Trips: w.trips.made.Load() - trips}
	runtime.ReadMemStats(&after)
	a.Allocations = float64(after.Mallocs-before.Mallocs) / float64(o.N*o.Side)
	return a, err
}

// pairs locks and unlocks each lock n times, on a goroutine of its own.
func pairs(locks []acquire, n int) error {
	var group errgroup.Group
	for _, lock := range locks {
		group.Go(func() error {
			for range n {
				h, err := lock(context.Background())
				if err == nil {
					err = h.Unlock()
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
