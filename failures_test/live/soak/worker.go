//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// worker is one process that uses the locks.
type worker struct {
	orders
	locks locks
	ctx   context.Context // ends when no further section is to begin
	acts  atomic.Int64    // how many acquires there have been

	tell    func(any)
	mu      sync.Mutex
	waiting map[int64]chan reply // for the ledger's answer
}

// runWorker is the whole life of a worker process. It ends when it is told to, or
// when the driver is gone.
func runWorker(o orders, replies <-chan reply, tell func(any)) error {
	rdb := connect(o.Socket, 0)
	defer rdb.Close()
	l, err := newLocks(o, rdb)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	w := &worker{orders: o, locks: l, ctx: ctx, tell: tell, waiting: map[int64]chan reply{}}
	go w.listen(replies, end)
	go w.feelPulse()
	var lanes sync.WaitGroup
	for lane := range o.Goroutines {
		random := rand.New(rand.NewPCG(o.Seed, uint64(o.Process)<<32|uint64(lane)))
		lanes.Go(func() {
			for ctx.Err() == nil {
				w.section(lane, random)
			}
		})
	}
	lanes.Wait()
	return l.Close()
}

// listen hands on what the driver says.
func (w *worker) listen(replies <-chan reply, end func()) {
	for r := range replies {
		if r.End {
			end()
			continue
		}
		w.mu.Lock()
		answer := w.waiting[r.Hold]
		delete(w.waiting, r.Hold)
		w.mu.Unlock()
		answer <- r
	}
}

// ask sends a message that the ledger answers.
func (w *worker) ask(m message) reply {
	answer := make(chan reply, 1)
	w.mu.Lock()
	w.waiting[m.Hold] = answer
	w.mu.Unlock()
	w.tell(m)
	return <-answer
}

// section asks for a lock and, once inside, reads the lock's counter, works, and
// writes it back raised by one.
func (w *worker) section(lane int, random *rand.Rand) {
	lock := random.IntN(w.Locks)
	how := drawManner(random)
	id := int64(w.Process)<<32 | w.acts.Add(1)
	asking := message{Kind: asks, At: w.Clock.now(), Hold: id, Lock: lock, Lane: lane}
	if how.fixed {
		asking.How = fixedLease
	}
	w.tell(asking)
	h, err := w.locks.acquire(w.ctx, lockName(lock), how)
	answered := message{Kind: holds, At: w.Clock.now(), Hold: id}
	if err != nil {
		answered.Kind, answered.Text = failed, err.Error()
		if errors.Is(err, errRefused) || w.ctx.Err() != nil {
			answered.Kind = refused
		}
		w.tell(answered)
		w.sleep(random, 20*time.Millisecond)
		return
	}
	answered.Token = h.Token()
	w.tell(answered)
	quiet := context.AfterFunc(h.Context(), func() {
		if at := w.Clock.now(); h.lost() {
			w.tell(message{Kind: lost, At: at, Hold: id})
		}
	})
	w.inside(h, id, random)
	quiet()
	w.tell(message{Kind: unlocks, At: w.Clock.now(), Hold: id})
	became, err := h.unlock()
	answered = message{Kind: unlocked, At: w.Clock.now(), Hold: id, How: became}
	if err != nil {
		answered.Text = err.Error()
	}
	w.tell(answered)
}

// inside is the work that the lock guards. Every other section looks whether it
// still holds the lock before it writes; the others write late, too.
func (w *worker) inside(h held, id int64, random *rand.Rand) {
	if random.IntN(10) == 0 {
		if err := h.reenter(); err != errNoReentry {
			again := message{Kind: reenters, At: w.Clock.now(), Hold: id}
			if errors.Is(err, errWrong) {
				again.Text = err.Error()
			}
			w.tell(again)
		}
	}
	careful := random.IntN(2) == 0
	seen := w.ask(message{Kind: reads, At: w.Clock.now(), Hold: id, Token: h.Token()})
	time.Sleep(drawWork(random, w.Lease))
	if !seen.OK || careful && h.Context().Err() != nil {
		return
	}
	w.ask(message{Kind: writes, At: w.Clock.now(), Hold: id, Token: h.Token(), Value: seen.Value + 1})
}

func drawManner(random *rand.Rand) manner {
	how := manner{fixed: random.IntN(7) == 0}
	switch n := random.IntN(10); {
	case n == 0:
		how.try = true
	case n <= 2:
		how.patient = time.Duration(1+random.IntN(200)) * time.Millisecond
	}
	return how
}

// drawWork is how long a section works: mostly a moment, rarely longer than the
// lease.
func drawWork(random *rand.Rand, lease time.Duration) time.Duration {
	switch n := random.IntN(1000); {
	case n < 5:
		return lease*13/10 + time.Duration(random.Int64N(int64(lease*3/2)))
	case n < 50:
		return time.Duration(random.Int64N(int64(lease / 5)))
	}
	return time.Duration(random.Int64N(int64(4 * time.Millisecond)))
}

func (w *worker) sleep(random *rand.Rand, longest time.Duration) {
	select {
	case <-w.ctx.Done():
	case <-time.After(time.Duration(random.Int64N(int64(longest)))):
	}
}

// feelPulse tells when the process stood still, or got no processor: what it
// should have noticed then it notices later, and no lock can help that.
func (w *worker) feelPulse() {
	const beat = 5 * time.Millisecond
	for before := w.Clock.now(); ; {
		time.Sleep(beat)
		at := w.Clock.now()
		if at-before > 6*beat {
			w.tell(message{Kind: stood, Since: before, At: at})
		}
		before = at
	}
}

func lockName(lock int) string { return fmt.Sprintf("soak:%d", lock) }
