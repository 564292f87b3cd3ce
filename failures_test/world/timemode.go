package world

import (
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// timeMode is how time passes in a world.
type timeMode interface {
	// rest waits until the clients have nothing more to do at this moment. It returns
	// false when something happened first.
	rest(w *World) bool
	// measures are a time after which nothing that a lock does by itself is under way, how
	// far apart two moments must be to be told apart, and how much later than due things
	// may happen.
	measures(lease time.Duration) (long, blur, slack time.Duration)
	// timeouts fits the timeouts of a client to the lease.
	timeouts(o *redis.Options, lease time.Duration)
	// windDown lets the locks and the clients end.
	windDown(w *World)
}

// bubbleTime is the fake time of a synctest bubble.
type bubbleTime struct{}

func (bubbleTime) rest(*World) bool {
	synctest.Wait()
	return true
}

func (bubbleTime) measures(time.Duration) (long, blur, slack time.Duration) { return time.Hour, 0, 0 }

func (bubbleTime) timeouts(*redis.Options, time.Duration) {}

func (bubbleTime) windDown(w *World) {
	w.pass(2 * w.Lease)
	w.closeLockers()
	w.pass(time.Second)
	w.closeClients()
	w.pass(time.Second)
}

// realTime is the time on the wall.
type realTime struct{}

// A client is at rest when nothing has come from it for so many turns in a row. A
// machine that stands still for a moment spoils one of them, not all.
const (
	quietTurns = 3
	quietTurn  = time.Millisecond
)

func (realTime) rest(w *World) bool {
	if on, _ := w.next(); on != nil {
		return true // what the clients do next depends on that reply
	}
	timer := time.NewTimer(quietTurn)
	defer timer.Stop()
	for range quietTurns {
		began := time.Now()
		select {
		case <-w.wake:
			return false
		case <-timer.C:
			w.late(time.Since(began) - quietTurn)
			timer.Reset(quietTurn)
		}
	}
	return true
}

func (realTime) measures(lease time.Duration) (long, blur, slack time.Duration) {
	return 3 * lease, 20 * time.Millisecond, 200 * time.Millisecond
}

// timeouts keeps the proportion of go-redis's own to a lease of 30 s, as far as a
// busy machine allows: a timeout ends before a third of the lease does.
func (realTime) timeouts(o *redis.Options, lease time.Duration) {
	for _, timeout := range []*time.Duration{&o.ReadTimeout, &o.WriteTimeout, &o.DialTimeout, &o.PoolTimeout} {
		if *timeout >= 0 { // a negative one is none
			*timeout = max(lease/4, *timeout*lease/(30*time.Second))
		}
	}
}

// windDown waits for the goroutines of the locks. One that renews a lock ends with
// the first renewal that finds no key, so the clients are closed after that.
func (realTime) windDown(w *World) {
	w.until(time.Now().Add(2*w.Lease), func() bool { return !w.isCalling() })
	w.closeLockers()
	alone := func() bool { return labelled(w.label) <= 1 } // the scenario's own goroutine
	ended := w.pollUntil(w.Lease, alone)
	w.closeClients()
	if !ended {
		w.pollUntil(w.Lease, alone)
	}
}

// pollUntil lets time pass until done, or for d, and asks again and again.
func (w *World) pollUntil(d time.Duration, done func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); w.pass(5 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}

// isCalling tells whether a call has not yet come back.
func (w *World) isCalling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if len(p.running) > 0 {
			return true
		}
	}
	return false
}
