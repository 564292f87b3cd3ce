package stage6

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The watchdog manages the leases of all holds of a service with one timer, which fires when
// the next lease has to be renewed, or looked at, or ends, and when locks that callers wait for
// have to be looked at. Between two firings it needs no goroutine.

// watch adds a lease to the watchdog. It returns false if the lease has already ended, the service
// has got the lock again with a higher token, or it is closed. An earlier hold of the lock, with a
// lower token, is lost. The first renewal is due a third of the lease after the acquire
// was sent, as the lease counts from then. A fixed lease is not renewed, but looked at as
// often, so that a loss is noticed.
func (s *Service) watch(o *ownership) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.watched[o.mutex.key]
	if s.isClosed() || !time.Now().Before(o.deadline) || other != nil && other.token > o.token {
		return false
	}
	if other != nil && other.finishNow(ErrLost) {
		s.lost(other, errTaken)
	}
	s.watched[o.mutex.key] = o
	s.renewLater(o, o.since.Add(o.third()))
	return true
}

// third returns a third of the lease, or of the service's if that is shorter.
func (o *ownership) third() time.Duration { return min(o.lease, o.mutex.svc.lease) / 3 }

// renewLater sets when to renew a lease next, and makes the timer fire then, or when the hold
// ends if that is earlier. The caller holds s.mu.
func (s *Service) renewLater(o *ownership, at time.Time) {
	o.renewAt = at
	if end := o.ending(); end.Before(at) {
		at = end
	}
	s.wakeAt(at)
}

// wakeAt makes the timer fire at that time, or earlier. The caller holds s.mu.
func (s *Service) wakeAt(at time.Time) {
	if s.wakesAt.IsZero() || at.Before(s.wakesAt) {
		s.wakesAt = at
		s.timer.Reset(time.Until(at))
	}
}

// ending returns when a hold ends if nothing else happens: when its lease ends, or
// when it has lasted as long as the service allows. The caller holds Service.mu.
func (o *ownership) ending() time.Time {
	longest := o.mutex.svc.maxHold
	if end := o.since.Add(longest); longest > 0 && !o.fixed && end.Before(o.deadline) {
		return end
	}
	return o.deadline
}

// look ends the holds whose time is up, and renews the leases that are due now
// or soon with shared commands, as it looks at the locks that callers wait for.
func (s *Service) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() {
		return
	}
	s.wakesAt = time.Time{}
	now, size := time.Now(), int(s.batch.Load())
	var over, due []*ownership
	for o := range maps.Values(s.watched) {
		switch {
		case !now.Before(o.ending()):
			over = append(over, o)
		case !o.renewAt.After(now.Add(o.third() / 20)):
			due = append(due, o)
			s.renewLater(o, o.deadline) // not again while this renewal is under way
		default:
			s.renewLater(o, o.renewAt)
		}
	}
	slices.SortFunc(over, byOwner)
	for _, o := range over {
		o.finishNow(ErrLost)
		s.lost(o, o.cause(now))
	}
	slices.SortFunc(due, byOwner)
	for batch := range slices.Chunk(due, size) { // a stuck renewal does not delay the others
		s.tasks.Go(func() { s.renew(batch, false) })
	}
	for batch := range slices.Chunk(s.dueLooks(now), size) {
		s.tasks.Go(func() { s.ask(batch) })
	}
}

// errTaken is the cause of a loss: Redis no longer knows the owner.
var errTaken = errors.New("stage6: its key is gone, or somebody else's")

// cause returns why a hold ends whose time is up. The caller holds Service.mu.
func (o *ownership) cause(now time.Time) error {
	switch {
	case now.Before(o.deadline):
		return fmt.Errorf("stage6: it lasted longer than WithMaxHold allows, %v", o.mutex.svc.maxHold)
	case o.fixed:
		return fmt.Errorf("stage6: its lease of %v was fixed, and is over", o.lease)
	default:
		return fmt.Errorf("stage6: no renewal got through for its lease of %v: %w", o.lease, cmp.Or(o.renewal, errors.New("none was answered")))
	}
}

// renew sends one batch. It takes a sixth of the lease at most, which leaves time for another try
// before the lease ends. The lease counts from when the last successful command was sent.
//
// Some proxies refuse a command for several keys, each in its own words, and some send it to the
// server of its first key, which does not have the others. So the locks of a batch that Redis
// refuses or does not know are asked for alone at once. If Redis knows one of them, the service
// sends no more batches (here, and where it looks at locks or cleans up), unless the refusal has
// nothing to do with the number of keys.
func (s *Service) renew(batch []*ownership, alone bool) {
	ctx, cancel := context.WithTimeout(s.ctx, s.lease/6)
	defer cancel()
	keys, args := []any{len(batch)}, []any{}
	for _, o := range batch {
		keys, args = append(keys, o.mutex.key), append(args, o.owner, o.extension())
	}
	sent := time.Now()
	answers, err := s.run(ctx, renewScript, keys, args...).BoolSlice()
	code := codeOf(err)
	isShared, isRefused := len(batch) > 1, code != "" && !isTemporary(err)
	if err == nil && len(answers) != len(batch) {
		err = fmt.Errorf("stage6: Redis answered for %d locks of %d", len(answers), len(batch))
	}
	if s.observer.Renewed != nil && !(isShared && isRefused) {
		s.tell(func() { s.observer.Renewed(len(batch), err) })
	}
	if err != nil && !(isShared && isRefused) {
		s.warn("renewal failed", "locks", len(batch), "error", err)
	}
	for i, o := range batch {
		switch known := err == nil && answers[i]; {
		case isShared && (isRefused || err == nil && !known):
			if _, end, _ := o.state(); end == nil {
				s.tasks.Go(func() { s.renew([]*ownership{o}, !slices.Contains(passing, code)) })
			}
			continue
		case err == nil && !known:
			o.lose(errTaken)
			continue
		case known:
			if o.extend(sent); alone && s.batch.Swap(1) > 1 {
				s.warn("shared renewals do not work here: from now on each lock is renewed alone")
			}
		}
		s.mu.Lock()
		if o.renewal = err; s.watched[o.mutex.key] == o {
			again := sent.Add(o.third())
			if err != nil {
				again = time.Now().Add(o.third() / 4)
			}
			s.renewLater(o, again)
		}
		s.mu.Unlock()
	}
}
