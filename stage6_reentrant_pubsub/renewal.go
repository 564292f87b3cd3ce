package stage6

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// batchSize is how many locks one command renews at most.
const batchSize = 100

// send renews the holds, in batches that know nothing of each other: one that
// hangs delays none of the others.
func (w *watchdog) send(due []*ownership) {
	for _, batch := range w.batches(due) {
		if !w.svc.start(func() { w.renew(batch) }) {
			w.settle(batch, nil, time.Time{}, ErrClosed)
		}
	}
}

// batches cuts holds into commands of at most batchSize keys. The keys of one
// command have to be in one slot of a Cluster; elsewhere every slot will do.
func (w *watchdog) batches(due []*ownership) [][]*ownership {
	if _, cluster := w.svc.rdb.(*redis.ClusterClient); !cluster {
		return slices.Collect(slices.Chunk(due, batchSize))
	}
	slices.SortFunc(due, func(a, b *ownership) int {
		return cmp.Compare(slot(a.mutex.key), slot(b.mutex.key))
	})
	var batches [][]*ownership
	for len(due) > 0 {
		n := 1
		for n < min(len(due), batchSize) && slot(due[n].mutex.key) == slot(due[0].mutex.key) {
			n++
		}
		batches, due = append(batches, due[:n]), due[n:]
	}
	return batches
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
	if isMoving(err) && len(batch) > 1 { // each key is on one node, and can be reached by itself
		for i := range batch {
			one := batch[i : i+1]
			if !s.start(func() { w.renew(one) }) {
				w.settle(one, nil, time.Time{}, ErrClosed)
			}
		}
		return
	}
	w.settle(batch, answers, sent, err)
}

// settle notes what became of a batch. Who was not renewed has lost the lock; who
// was not answered is tried again, until the lease is over: it counts from when
// the last command that got through was sent.
func (w *watchdog) settle(batch []*ownership, answers []bool, sent time.Time, err error) {
	var gone []*ownership
	w.mu.Lock()
	for i, o := range batch {
		close(o.renewing)
		o.renewing = nil
		switch {
		case o.gone:
			continue
		case err != nil:
			o.renewAt = time.Now().Add(o.lease / 12)
		case !answers[i]:
			gone = append(gone, o)
			continue
		default:
			o.extend(sent.Add(o.lease))
			o.renewAt = sent.Add(o.lease / 3)
		}
		if o.index >= 0 {
			heap.Remove(&w.queue, o.index)
		}
		w.schedule(o)
	}
	w.mu.Unlock()
	for _, o := range gone {
		o.lose()
	}
}
