package world

import (
	"testing/synctest"
	"time"

	"lockkata/failures_test/trace"
)

// pass lets d of time pass and runs all that happens in it.
func (w *World) pass(d time.Duration) {
	w.until(time.Now().Add(d), func() bool { return false })
}

// until lets time pass until done returns true, or until end. It returns the last result of done.
func (w *World) until(end time.Time, done func() bool) bool {
	for {
		w.reached = min(w.Now(), end.Sub(w.start))
		turn := time.Now().Add(w.Lease / 20)
		if end.Before(turn) {
			turn = end
		}
		atRest := w.driveUntil(turn, w.step)
		if done() {
			return true
		}
		if !time.Now().Before(end) {
			w.late(time.Since(end))
			return false
		}
		if atRest {
			w.advance(end)
		}
		w.lapse()
	}
}

// advance moves time to the next event: a client acts, a lease ends, a delayed message arrives, or
// end.
func (w *World) advance(end time.Time) {
	if at := w.nextExpiry(end); at.After(time.Now()) {
		end = at
	}
	end = w.nextDue(end)
	select {
	case <-w.wake: // a stale notification
	default:
	}
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-w.wake:
	case <-timer.C:
		w.late(time.Since(end))
	}
}

// nextExpiry returns when, on the clients' clock, the next lease on any server ends, or end if that is
// earlier.
func (w *World) nextExpiry(end time.Time) time.Time {
	for _, n := range w.nodes {
		end = n.keys.nextExpiry(end)
	}
	return end
}

// nextDue returns when the next delayed request or reply arrives, or end if that is earlier.
func (w *World) nextDue(end time.Time) time.Time {
	next := end.Sub(w.start)
	for c := range w.wires {
		if len(c.requests) > 0 && c.requests[0].due > w.reached {
			next = min(next, c.requests[0].due)
		}
		if len(c.replies) > 0 && c.replies[0].due > w.reached {
			next = min(next, c.replies[0].due)
		}
	}
	for _, r := range w.replicas {
		if len(r.coming) > 0 && r.coming[0].due > w.reached {
			next = min(next, r.coming[0].due)
		}
	}
	return w.start.Add(next)
}

// SleepUntil sleeps until the fault has struck, at most for longest, and then for more. So the
// story does not depend on when the lock renews.
func (w *World) SleepUntil(f *Fault, longest, more time.Duration) {
	w.settle()
	began, slept := time.Now(), len(w.trace.Events)
	w.record(trace.Event{Kind: trace.Slept})
	defer func() { w.trace.Events[slept].Bound = time.Since(began) }() // also if the scenario is taken over
	w.until(began.Add(longest), func() bool { return f.times == 0 })
	w.pass(more)
}

// Sleep lets d of time pass. Processes that are not frozen continue during it.
func (w *World) Sleep(d time.Duration) {
	w.settle()
	w.record(trace.Event{Kind: trace.Slept, Bound: d})
	w.pass(d)
}

// horizon returns how long a scenario waits for a call.
func (w *World) horizon() time.Duration { return 10 * w.Lease }

// Clock controls how time passes in a world.
type Clock interface {
	// Limits returns what a scenario can rely on with a lease of that length.
	Limits(lease time.Duration) Limits
	// Rest waits until the clients have nothing more to do at this moment. It returns false if wake
	// received something first. late is the longest delay that the machine added.
	Rest(wake <-chan struct{}) (atRest bool, late time.Duration)
	// Timeouts adapts the timeouts of a driver to the lease.
	Timeouts(s *Settings, lease time.Duration)
	// Linger waits, by calling pass, until goroutines of a lock with that lease have had time to
	// end.
	Linger(lease time.Duration, pass func(time.Duration))
}

// Limits are the accuracies of a clock.
type Limits struct {
	LongSilence time.Duration // after it the lock's own goroutines have finished what they did
	Blur        time.Duration // moments closer than this count as equal
	Slack       time.Duration // how late an event may be; 0 only in fake time
}

// bubbleTime is the fake time of a synctest bubble.
type bubbleTime struct{}

func (bubbleTime) Limits(time.Duration) Limits { return Limits{LongSilence: time.Hour} }

func (bubbleTime) Rest(<-chan struct{}) (atRest bool, late time.Duration) {
	synctest.Wait()
	return true, 0
}

func (bubbleTime) Timeouts(*Settings, time.Duration) {}

func (bubbleTime) Linger(_ time.Duration, pass func(time.Duration)) { pass(time.Second) }
