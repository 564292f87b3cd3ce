package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// request holds the settings of one acquire.
type request struct {
	lease  time.Duration // in whole milliseconds, as Redis keeps it
	millis any           // the same as an int64, for scripts
	fixed  bool          // the lease is not renewed
}

// lock acquires or re-enters. It waits until patience ends while another owner
// holds the lock; with a nil patience it does not wait.
func (m *Mutex) lock(ctx, patience context.Context, opts []LockOption) (*Hold, error) {
	s, begun := m.svc, time.Now()
	if !s.begin() {
		return nil, ErrClosed
	}
	defer s.tasks.Done()
	r := request{lease: s.lease, millis: s.millis}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("stage6: an option is nil: leave it out")
		}
		r = opt(r)
	}
	if err := checkLease("lease", r.lease); err != nil {
		return nil, err
	}
	if held := m.carried(ctx); held != nil {
		return held.own.reenter(ctx, patience, r)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
	}
	o, err := m.wait(ctx, patience, r)
	if err != nil {
		return nil, err
	}
	hold, err := o.newHold(ctx)
	if err != nil { // the service was closed, or the hold ended at once; its key may still exist
		s.cleanUp(o)
		return nil, err
	}
	if waited := time.Since(begun); s.observer.Acquired != nil {
		s.tell(func() { s.observer.Acquired(m.name, waited) })
	}
	return hold, nil
}

// errLate is the error of an attempt whose grants arrived after their lease had ended.
var errLate = errors.New("the lease is too short for the way to Redis")

// attempt asks Redis for the lock. With ErrLocked it returns how long the current
// holder's lease lasts. It asks again, three times in all, while a slot of a Cluster
// is migrating, and if the lease had ended when the grant arrived: the lease counts
// from before the command was sent. A grant also comes too late if this process has got
// the lock in the meantime, with a higher token. Each try has a new owner, so that freeing
// a late or lost grant cannot free anything else. An attempt that ends after Close returns
// no hold.
func (m *Mutex) attempt(ctx context.Context, r request) (*ownership, time.Duration, error) {
	s := m.svc
	for tries := 1; ; tries++ {
		sent := time.Now()
		o := &ownership{
			mutex: m, request: r, since: sent, deadline: sent.Add(r.lease),
			turn:  make(chan struct{}, 1),
			owner: string(strconv.AppendInt(append(make([]byte, 0, 64), s.id...), s.owners.Add(1), 10)),
		}
		o.holds = o.one[:0]
		answer, err := s.run(ctx, acquireScript, m.toAcquire, o.owner, r.millis).Int64()
		switch {
		case redis.IsTryAgainError(err) && tries < attempts && pause(ctx, passingPause):
			continue
		case err != nil:
			if isUnknown(err) {
				s.cleanUp(o)
			}
			return nil, 0, m.explain(ctx, "lock", err)
		case answer == 0: // 0 is never a token
			return nil, 0, fmt.Errorf("stage6: lock %s: Redis answered 0, which is neither a token nor a refusal", m.key)
		case answer < 0:
			left := -2 - answer
			if left < 0 || left > s.lease.Milliseconds() { // no lease, or a longer one than ours: ask again after our own lease
				left = s.lease.Milliseconds()
			}
			return nil, time.Duration(left) * time.Millisecond, ErrLocked
		}
		o.token = answer
		if s.watch(o) {
			if took := time.Since(sent); took > r.lease/6 {
				s.warn("lease is short for the way to Redis: a renewal may take a sixth of it", "name", m.name, "lease", r.lease, "took", took)
			}
			return o, 0, nil
		}
		err = fmt.Errorf("stage6: lock %s: the grant came after its lease of %v was over: %w", m.key, r.lease, errLate)
		if s.isClosed() {
			err = ErrClosed
		}
		if tries == attempts || err == ErrClosed {
			s.cleanUp(o)
			return nil, 0, err
		}
		if _, err := o.send(ctx, 0, false); err != nil { // otherwise it would keep the next owner out
			s.cleanUp(o)
		}
	}
}

// orphan is an owner whose acquire may have got the lock, or may still get it: its outcome is unknown, and
// an answer that Redis does not know the owner proves nothing while the command may be on its way.
type orphan struct {
	*ownership
	until   time.Time     // the lease has ended by then
	askAt   time.Time     // when to ask for it next
	pause   time.Duration // to the ask after that
	isFreed bool
}

// One goroutine asks for the orphans of a service, for longestCleanUp each at most. Of more than
// maxOrphans, those whose time ends first are left to their leases. Few are asked for one by one, since
// a proxy may not accept a script for several locks.
const (
	longestCleanUp = 15 * time.Minute
	maxOrphans     = 10_000
	fewOrphans     = 16
)

// cleanUp frees the lock of an owner whose acquire had an unknown outcome. It does not wait.
func (s *Service) cleanUp(o *ownership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	add := &orphan{ownership: o, until: now.Add(min(o.lease, longestCleanUp)), askAt: now, pause: s.short() / 60}
	at, _ := slices.BinarySearchFunc(s.orphans, add, func(a, b *orphan) int { return a.until.Compare(b.until) })
	if s.orphans = slices.Insert(s.orphans, at, add); len(s.orphans) > maxOrphans {
		s.orphans = s.orphans[1:]
		s.dropped++
	}
	if !s.cleaning {
		s.cleaning = true
		s.tasks.Go(s.cleanUpAll)
	}
}

// cleanUpAll asks for each orphan with growing pauses, until it has found the owner or the time has ended. Once
// the service is closed it asks once more and leaves the keys to their leases.
func (s *Service) cleanUpAll() {
	for due := s.dueOrphans(); due != nil; due = s.dueOrphans() {
		size := int(s.batch.Load())
		if len(due) <= fewOrphans {
			size = 1
		}
		batches := slices.Collect(slices.Chunk(due, size))
		ctx, cancel := context.WithTimeout(context.Background(), s.lease/6)
		inParallel(fewOrphans, len(batches), func(i int) { s.free(ctx, batches[i]) })
		cancel()
		pause(s.ctx, s.short()/60)
	}
}

// dueOrphans returns the orphans to ask for now. It returns nil, and the goroutine ends, if none is left.
func (s *Service) dueOrphans() []*orphan {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, due := time.Now(), []*orphan{}
	s.orphans = slices.DeleteFunc(s.orphans, func(o *orphan) bool { return o.isFreed || now.After(o.until) })
	for _, o := range s.orphans {
		if s.isClosed() || !o.askAt.After(now) {
			due = append(due, o)
			o.askAt, o.pause = now.Add(o.pause), min(2*o.pause, s.short()/6)
		}
	}
	s.cleaning = len(s.orphans) > 0
	if s.isClosed() {
		s.orphans = nil
	}
	if !s.cleaning {
		return nil
	}
	return due
}

// free asks Redis to free the locks of some orphans.
func (s *Service) free(ctx context.Context, orphans []*orphan) {
	var freed []bool
	var err error
	if len(orphans) == 1 {
		freed = make([]bool, 1)
		freed[0], err = orphans[0].send(ctx, 0, false)
	} else {
		keys, args := []any{len(orphans)}, []any{}
		for _, o := range orphans {
			keys, args = append(keys, o.mutex.key), append(args, o.mutex.channel, o.owner)
		}
		freed, err = s.run(ctx, cleanUpScript, keys, args...).BoolSlice()
	}
	if err != nil {
		s.mu.Lock()
		left, dropped := len(s.orphans), s.dropped
		s.mu.Unlock()
		s.warn("clean-up after acquires of unknown outcome failed", "locks", left, "given up", dropped, "error", err)
	}
	for i, o := range orphans {
		o.isFreed = i < len(freed) && freed[i]
	}
}
