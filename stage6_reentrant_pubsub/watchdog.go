package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// watchdog looks after the leases of all holds of a service with one timer: it wakes up
// when the next lease is to be renewed, or ends. There is no goroutine meanwhile.
type watchdog struct {
	svc *Service

	mu      sync.Mutex
	holds   map[*ownership]*care
	timer   *time.Timer
	wakesAt time.Time // when the timer goes off; zero: it does not
}

// care is what the watchdog knows of a hold. Guarded by watchdog.mu.
type care struct {
	renewAt time.Time // when to renew it next; zero: not, or a renewal is under way
	failed  error     // of the last renewal; nil: it got through
}

func newWatchdog(s *Service) *watchdog {
	w := &watchdog{svc: s, holds: map[*ownership]*care{}}
	w.timer = time.AfterFunc(time.Duration(1<<63-1), w.look)
	return w
}

// add begins to look after a hold. It has begun when add returns. It returns false
// if the lease is over already, or the service closed. The first renewal is due a
// third after the acquire was sent, as the lease counts from then.
func (w *watchdog) add(o *ownership, sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !time.Now().Before(o.deadline) || w.svc.isClosed() {
		return false
	}
	c := &care{}
	if !o.fixed {
		c.renewAt = sent.Add(o.lease / 3)
	}
	w.holds[o] = c
	w.wakeAt(c.next(o))
	return true
}

// forget no longer looks after a hold, and tells whether it did. A renewal under way is not
// waited for: the owner is unique, so it finds nothing once the lock is freed.
func (w *watchdog) forget(o *ownership) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.holds, o)
}

// wakeAt has the timer go off at that time at the latest. w.mu is held.
func (w *watchdog) wakeAt(at time.Time) {
	if w.wakesAt.IsZero() || at.Before(w.wakesAt) {
		w.wakesAt = at
		w.timer.Reset(time.Until(at))
	}
}

// next is when to look at a hold again.
func (c *care) next(o *ownership) time.Time {
	at := o.ending()
	if !c.renewAt.IsZero() && c.renewAt.Before(at) {
		return c.renewAt
	}
	return at
}

// ending is when a hold is over if nothing else happens: when its lease ends, or
// when it has lasted as long as the service allows.
func (o *ownership) ending() time.Time {
	end, longest := o.leaseEnd(), o.mutex.svc.maxHold
	if longest > 0 && !o.fixed && o.since.Add(longest).Before(end) {
		return o.since.Add(longest)
	}
	return end
}

// close closes the service, in one step with looking which holds there are: none
// can be added or released between the two. first is false if it was closed before.
func (w *watchdog) close() (holds []*ownership, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.svc.mu.Lock()
	first = !w.svc.closed
	w.svc.closed = true
	w.svc.mu.Unlock()
	w.svc.cancel()
	w.timer.Stop()
	for o := range w.holds {
		holds = append(holds, o)
	}
	return holds, first
}

// look ends the holds whose time is over and renews those whose turn it is, or
// soon will be: they share a command.
func (w *watchdog) look() {
	if !w.svc.begin() {
		return
	}
	defer w.svc.tasks.Done()
	now := time.Now()
	soon := now.Add(w.svc.lease / 60)
	over, due := map[*ownership]error{}, []*ownership(nil)
	w.mu.Lock()
	var next time.Time
	for o, c := range w.holds {
		if !now.Before(o.ending()) {
			over[o] = w.cause(o, c)
			continue
		}
		if !c.renewAt.IsZero() && !c.renewAt.After(soon) {
			c.renewAt = time.Time{}
			due = append(due, o)
		}
		if at := c.next(o); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	w.wakesAt = time.Time{}
	if !next.IsZero() {
		w.wakeAt(next)
	}
	w.mu.Unlock()
	for o, cause := range over {
		o.lose(cause)
	}
	w.send(due)
}

// cause is why a hold is over whose time has come. w.mu is held.
func (w *watchdog) cause(o *ownership, c *care) error {
	switch {
	case time.Now().Before(o.leaseEnd()):
		return fmt.Errorf("stage6: it lasted longer than WithMaxHold allows, %v", w.svc.maxHold)
	case o.fixed:
		return fmt.Errorf("stage6: its lease of %v was fixed, and is over", o.lease)
	case c.failed != nil:
		return fmt.Errorf("stage6: no renewal got through for its lease of %v: %w", o.lease, c.failed)
	default:
		return fmt.Errorf("stage6: no renewal was answered for its lease of %v", o.lease)
	}
}

// errTaken is why a hold is over that Redis does not know any more.
var errTaken = errors.New("stage6: its key is gone, or somebody else's")

// batchSize is how many locks one command renews at most.
const batchSize = 100

// send renews the holds, in batches that know nothing of each other: one that hangs delays
// none of the others. The keys of one command have to be in one slot of a Cluster, where
// locks rarely share one: there each has a command of its own.
func (w *watchdog) send(due []*ownership) {
	size := batchSize
	if _, cluster := w.svc.rdb.(*redis.ClusterClient); cluster {
		size = 1
	}
	for batch := range slices.Chunk(due, size) {
		w.svc.start(func() { w.renew(batch) })
	}
}

// renew sends one batch. It takes a sixth of the lease at most: that leaves time
// for another try.
func (w *watchdog) renew(batch []*ownership) {
	s := w.svc
	ctx, cancel := context.WithTimeout(s.ctx, s.lease/6)
	defer cancel()
	var keys, owners []any
	for _, o := range batch {
		keys, owners = append(keys, o.mutex.key), append(owners, o.owner)
	}
	sent := time.Now()
	answers, err := run(ctx, s.rdb, renewScript, append(withKeys(keys...), s.lease.Milliseconds()), owners...).BoolSlice()
	if err == nil && len(answers) != len(batch) {
		err = fmt.Errorf("stage6: Redis answered for %d locks of %d", len(answers), len(batch))
	}
	if s.observer.Renewed != nil {
		s.observer.Renewed(len(batch), err)
	}
	if err != nil {
		s.logger.Warn("renewal failed", "locks", len(batch), "error", err)
	}
	for i, o := range batch {
		if err == nil && !answers[i] {
			o.lose(errTaken)
		} else {
			w.settle(o, sent, err)
		}
	}
}

// settle notes what became of a renewal. Who was not answered is tried again, until the
// lease is over: it counts from when the last command that got through was sent.
func (w *watchdog) settle(o *ownership, sent time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.holds[o]
	if c == nil { // it is over
		return
	}
	if c.failed = err; err != nil {
		c.renewAt = time.Now().Add(o.lease / 12)
	} else {
		o.extend(sent.Add(o.lease))
		c.renewAt = sent.Add(o.lease / 3)
	}
	w.wakeAt(c.next(o))
}
