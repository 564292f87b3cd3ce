package world

import (
	"math"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Clock is how time passes in a world.
type Clock interface {
	// Limits are what can be relied on with a lease of that length.
	Limits(lease time.Duration) Limits
	// Rest waits until the clients have nothing more to do at this moment. It returns false when
	// wake brought something first. Late is by how much the machine delayed it, at worst.
	Rest(wake <-chan struct{}) (atRest bool, late time.Duration)
	// Timeouts fits the timeouts of a client to the lease.
	Timeouts(o *redis.Options, lease time.Duration)
	// Linger lets pass the time that goroutines of a lock with that lease need to end.
	Linger(lease time.Duration, pass func(time.Duration))
}

// Limits are what a scenario can rely on as time passes.
type Limits struct {
	LongSilence time.Duration // after it nothing that a lock does by itself is under way
	Blur        time.Duration // how far apart two moments must be to be told apart
	Slack       time.Duration // how much later than due things may happen; 0 only in fake time
}

// bubbleTime is the fake time of a synctest bubble.
type bubbleTime struct{}

func (bubbleTime) Limits(time.Duration) Limits { return Limits{LongSilence: time.Hour} }

func (bubbleTime) Rest(<-chan struct{}) (atRest bool, late time.Duration) {
	synctest.Wait()
	return true, 0
}

func (bubbleTime) Timeouts(*redis.Options, time.Duration) {}

func (bubbleTime) Linger(_ time.Duration, pass func(time.Duration)) { pass(time.Second) }

// pass lets d of fake time pass, with everything that happens meanwhile.
func (w *World) pass(d time.Duration) {
	w.until(time.Now().Add(d), func() bool { return false })
}

// until lets time pass until done, or until the end. It reports done's last word.
func (w *World) until(end time.Time, done func() bool) bool {
	for {
		w.reached = min(w.Now(), end.Sub(w.start))
		w.settle()
		if done() {
			return true
		}
		if !time.Now().Before(end) {
			w.late(time.Since(end))
			return false
		}
		w.advance(end)
		w.lapse()
	}
}

// advance moves time to the next thing that happens: a client does something, a
// lease ends, a delayed message arrives, or the end.
func (w *World) advance(end time.Time) {
	if at, ok := w.nextExpiry(); ok && at.Before(end) && at.After(time.Now()) {
		end = at
	}
	if at, ok := w.nextDue(); ok && at.Before(end) {
		end = at
	}
	select {
	case <-w.wake: // left over from what has been settled
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

// nextExpiry is when, on the clients' clock, the next lease ends on any server.
func (w *World) nextExpiry() (next time.Time, ok bool) {
	for _, n := range w.nodes {
		if at, has := n.keys.nextExpiry(); has && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// act notes the first thing that a call does. Where nothing is in its way an
// acquire asks Redis at once: if it takes long, the machine did. world.mu is held.
func (c *Call) act() {
	if c.alone && IsAcquire(c.Op) && c.Client.world.trace.Slack > 0 {
		c.Client.world.slow = max(c.Client.world.slow, time.Since(c.began))
	}
	c.alone = false
}

// IsAcquire tells whether an operation asks for the lock.
func IsAcquire(op string) bool { return op == OpLock || op == OpTryLock }

// late notes that the machine stood still, or was busy elsewhere.
func (w *World) late(by time.Duration) {
	if !w.closing {
		w.trace.Late = max(w.trace.Late, by)
	}
}

// nextDue is when the next delayed request or reply arrives.
func (w *World) nextDue() (at time.Time, ok bool) {
	next := time.Duration(math.MaxInt64)
	for c := range w.wires {
		if len(c.requests) > 0 && c.requests[0].due > w.reached {
			next = min(next, c.requests[0].due)
		}
		if len(c.replies) > 0 && c.replies[0].due > w.reached {
			next = min(next, c.replies[0].due)
		}
	}
	return w.start.Add(next), next < math.MaxInt64
}

// SleepUntil lets time pass until the fault has struck, for the longest time at most, and then
// a while more. So the story goes on in the same way, whenever the lock renews.
func (w *World) SleepUntil(f *Fault, longest, more time.Duration) {
	w.settle()
	began, slept := time.Now(), len(w.trace.Events)
	w.record(Event{Kind: Slept})
	defer func() { w.trace.Events[slept].Bound = time.Since(began) }() // also if the scenario is left
	w.until(began.Add(longest), func() bool { return f.times == 0 })
	w.pass(more)
}

// Sleep lets d of time pass. Everybody who is not frozen goes on meanwhile.
func (w *World) Sleep(d time.Duration) {
	w.settle()
	w.record(Event{Kind: Slept, Bound: d})
	w.pass(d)
}
