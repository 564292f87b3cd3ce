package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// What a worker tells. It tells each before it goes on, so that what it did is
// known also when it is killed.
const (
	asks     = "asks"    // for a lock; at: before the call
	holds    = "holds"   // the answer: it has got it; at: after the call
	refused  = "refused" // the answer: it has not
	lost     = "lost"    // it is told that the hold is lost
	reads    = "reads"   // the counter
	writes   = "writes"  // it; undone: what it did not know
	turned   = "is turned away by the ledger"
	reenters = "reenters" // it took the lock once more, and gave that back
	unlocks  = "unlocks"  // at: before the call
	freed    = "freed"    // the unlock's answer: it freed the lock; at: after the call
	gone     = "gone"     // the unlock's answer: the hold was lost before
	unknown  = "unknown"  // the unlock's answer: an error that says neither
	stood    = "stood"    // the process got no time, since some moment
)

// event is what a worker tells the driver.
type event struct {
	Kind      string
	At, Since moment
	Hold      int64 // which acquire, and the hold that came of it
	Lock      int
	Lane      int // the worker's goroutine
	Token     int64
	Undone    int64
	Text      string
}

// orders are what a worker process is started with.
type orders struct {
	settings
	Clock   clock
	Process int64  // its number among all that there have been
	Redis   string // where it finds Redis
	Ledger  string // where it finds the ledger
}

// worker is one process that uses the locks.
type worker struct {
	orders
	locks
	ledger ledger
	say    func(any)
	ctx    context.Context // ends when no further section is to begin
	acts   atomic.Int64    // how many acquires there have been
}

// work is the whole life of a worker process. Its client is one with go-redis's
// defaults, as a program has it.
func work(o orders, ends <-chan string, tell func(any)) error {
	logging.Disable() // it would print lines of its own for each fault
	rdb, books := redisserver.NewClient(o.Redis), redisserver.NewClient(o.Ledger)
	defer rdb.Close()
	defer books.Close()
	l, err := newLocks(o.settings, rdb)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	w := &worker{orders: o, locks: l, ledger: ledger{books, o.fenced()}, say: tell, ctx: ctx}
	go func() { <-ends; end() }()
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
	if l.svc == nil {
		return nil
	}
	return l.svc.Close()
}

// feelPulse tells when the process stood still, or got no processor: what it
// should have noticed then it notices later, and no lock can help that.
func (w *worker) feelPulse() {
	const beat = 5 * time.Millisecond
	for before := w.Clock.now(); ; {
		time.Sleep(beat)
		at := w.Clock.now()
		if at-before > 6*beat {
			w.tell(event{Kind: stood, Since: before})
		}
		before = at
	}
}

// tell sends an event of now.
func (w *worker) tell(e event) {
	e.At = w.Clock.now()
	w.say(e)
}

// section asks for a lock and, once inside, works.
func (w *worker) section(lane int, random *rand.Rand) {
	lock, id := random.IntN(w.Locks), w.Process<<32|w.acts.Add(1)
	w.tell(event{Kind: asks, Hold: id, Lock: lock, Lane: lane})
	h, err := w.acquire(w.ctx, lockName(lock), random)
	if err != nil {
		w.tell(event{Kind: refused, Hold: id, Text: err.Error()})
		time.Sleep(times(20*time.Millisecond, random.Float64()))
		return
	}
	w.tell(event{Kind: holds, Hold: id, Token: h.Token()})
	quiet := context.AfterFunc(h.Context(), func() {
		if context.Cause(h.Context()) == stage6.ErrLost {
			w.tell(event{Kind: lost, Hold: id})
		}
	})
	if w.svc != nil && random.IntN(10) == 0 {
		if inner, err := w.acquire(h.Context(), lockName(lock), random); err == nil {
			_ = inner.Unlock() // the outer one says what became of the hold
		}
		w.tell(event{Kind: reenters, Hold: id})
	}
	w.inside(h, lock, id, random)
	quiet()
	w.tell(event{Kind: unlocks, Hold: id})
	w.tell(event{Kind: became(h.Unlock()), Hold: id})
}

// inside is the work that the lock guards: it reads the lock's counter, takes its
// time, and writes it back raised by one. Every other section looks whether it still
// holds the lock before it writes; the others write late, too.
func (w *worker) inside(h held, lock int, id int64, random *rand.Rand) {
	said := event{Kind: turned, Hold: id}
	value, seen, ok := w.ledger.read(lock, id, h.Token())
	if ok {
		said.Kind = reads
	}
	w.tell(said)
	careful := random.IntN(2) == 0
	time.Sleep(drawWork(random, w.Lease))
	if !ok || careful && h.Context().Err() != nil {
		return
	}
	said.Kind = turned
	if _, now, ok := w.ledger.write(lock, id, h.Token(), value+1); ok {
		said.Kind, said.Undone = writes, now-1-seen // what it undid it knew nothing of
	}
	w.tell(said)
}

// drawWork is how long a section works: mostly a moment, rarely longer than the
// lease.
func drawWork(random *rand.Rand, lease time.Duration) time.Duration {
	much := random.Float64()
	switch n := random.IntN(1000); {
	case n < 5:
		return times(lease, 1.3+1.5*much)
	case n < 50:
		return times(lease, 0.2*much)
	}
	return times(4*time.Millisecond, much)
}

// times is so many times as long.
func times(d time.Duration, n float64) time.Duration { return time.Duration(n * float64(d)) }

func lockName(lock int) string { return fmt.Sprintf("soak:%d", lock) }
