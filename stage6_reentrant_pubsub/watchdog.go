package stage6

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// watchdog looks after the leases of all holds of a service on one goroutine: it
// knows which lease is to be renewed next, and which ends next. The goroutine runs
// while there is a hold, and sleeps on after the last one, for a third of a lease
// at most: to end it with each Unlock, and to wake it with each Lock, would cost
// more than the rest of them.
type watchdog struct {
	svc *Service

	mu      sync.Mutex
	queue   queue // by time
	running bool
	wakesAt time.Time     // until when the goroutine sleeps
	changed chan struct{} // capacity 1: it has to look before
}

// entry is where an ownership stands with the watchdog. Guarded by watchdog.mu.
type entry struct {
	index    int           // in the queue; -1: not in it
	at       time.Time     // when to look at it next
	renewAt  time.Time     // when to renew it next; zero: not, or a renewal is under way
	renewing chan struct{} // closed when the renewal under way has ended; nil: none is
	gone     bool          // the watchdog is done with it
}

func newWatchdog(s *Service) *watchdog { return &watchdog{svc: s, changed: make(chan struct{}, 1)} }

// add begins to look after a hold. It has begun when add returns. It returns false
// if the lease is over already, or the service closed. The first renewal is due a
// third after the acquire was sent, as the lease counts from then.
func (w *watchdog) add(o *ownership, sent time.Time) bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(o.deadline) || w.svc.isClosed() {
		return false
	}
	if !w.running {
		if !w.svc.start(w.run) {
			return false
		}
		w.running, w.wakesAt = true, now // it has not gone to sleep yet
	}
	if !o.fixed {
		o.renewAt = sent.Add(o.lease / 3)
	}
	w.schedule(o)
	return true
}

// schedule puts a hold into the queue. w.mu is held.
func (w *watchdog) schedule(o *ownership) {
	o.at = o.ending()
	if !o.renewAt.IsZero() && o.renewAt.Before(o.at) {
		o.at = o.renewAt
	}
	heap.Push(&w.queue, o)
	if o.at.Before(w.wakesAt) {
		w.nudge()
	}
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

func (w *watchdog) nudge() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// forget no longer looks after a hold.
func (w *watchdog) forget(o *ownership) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.gone = true
	if o.index >= 0 {
		heap.Remove(&w.queue, o.index)
	}
	// Without holds the goroutine ends before long, however long it was to sleep.
	if w.svc.isClosed() || len(w.queue) == 0 && time.Until(w.wakesAt) > w.svc.lease/3 {
		w.nudge()
	}
}

// remove forgets a hold and waits, no longer than a renewal may take, until no
// renewal of it is under way.
func (w *watchdog) remove(o *ownership) {
	w.forget(o)
	w.mu.Lock()
	renewing := o.renewing
	w.mu.Unlock()
	if renewing == nil {
		return
	}
	timer := time.NewTimer(o.lease / 6)
	defer timer.Stop()
	select {
	case <-renewing:
	case <-timer.C:
	}
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
	w.nudge() // it has to end, now or with the last hold
	return slices.Clone(w.queue), first
}

// run looks after the holds until there have been none for a while.
func (w *watchdog) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	slept := false // since somebody needed it last
	for {
		wait, ok := w.plan(slept)
		if !ok {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
			w.look()
			slept = true
		case <-w.changed:
			slept = false
		}
	}
}

// plan is how long to sleep. ok is false when the goroutine is to end: there is no
// hold, and there will be none, or it has slept already.
func (w *watchdog) plan(slept bool) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait = w.svc.lease / 3
	if len(w.queue) > 0 {
		wait = time.Until(w.queue[0].at)
	} else if slept || w.svc.isClosed() {
		w.running = false
		return 0, false
	}
	w.wakesAt = time.Now().Add(wait)
	return wait, true
}

// look ends the holds whose time is over and renews those whose turn it is, or
// soon will be: they share a command.
func (w *watchdog) look() {
	now := time.Now()
	soon := now.Add(w.svc.lease / 60)
	var over, due []*ownership
	w.mu.Lock()
	for len(w.queue) > 0 {
		o := w.queue[0]
		isOver := !now.Before(o.ending())
		isDue := !o.renewAt.IsZero() && !o.renewAt.After(soon)
		if !isOver && !isDue && o.at.After(now) {
			break
		}
		heap.Pop(&w.queue)
		if !isOver && !isDue { // its lease has grown since it was put there
			w.schedule(o)
			continue
		}
		if isOver {
			over = append(over, o)
			continue
		}
		o.renewAt, o.renewing = time.Time{}, make(chan struct{})
		w.schedule(o)
		due = append(due, o)
	}
	w.mu.Unlock()
	for _, o := range over {
		o.lose()
	}
	w.send(due)
}

// queue is a heap of holds by the time at which they need the watchdog.
type queue []*ownership

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	o := x.(*ownership)
	o.index = len(*q)
	*q = append(*q, o)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	o := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	o.index = -1
	return o
}
