//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// fault is one disturbance, as it happened.
type fault struct {
	kind, target string
	span
}

// server is the target of a fault that is no worker's.
const server = "redis"

// draw is what chance has decided about a fault.
type draw struct {
	victim int     // a worker, or a lock
	much   float64 // from 0 to 1: how long
	coin   bool
}

// between is a length from low to high leases.
func (d draw) between(low, high float64, lease time.Duration) time.Duration {
	return time.Duration((low + d.much*(high-low)) * float64(lease))
}

// faultKind is a way to disturb a run.
type faultKind struct {
	name   string
	weight int
	// do disturbs and mends. It returns whom it disturbed, "" if nobody.
	do func(r *run, d draw) string
}

// The faults of a worker.
var workerFaults = []faultKind{
	{"kill -9 a worker", 3, onWorker(func(r *run, d draw, b *berth) { r.note(r.crew.kill(b)) })},
	{"stop a worker, shorter than the lease", 2, onWorker(func(r *run, d draw, b *berth) {
		r.crew.stop(b.child, d.between(0.2, 0.8, r.Lease))
	})},
	{"stop a worker, longer than the lease", 2, onWorker(func(r *run, d draw, b *berth) {
		r.crew.stop(b.child, d.between(1.2, 2.5, r.Lease))
	})},
	{"stop a worker inside a section, longer than the lease", 4, (*run).stopInside},
	{"cut a worker's connections", 2, onWorker(func(r *run, d draw, b *berth) { b.link.Cut() })},
	{"silence a worker's network, shorter than the lease", 2, onWorker(func(r *run, d draw, b *berth) {
		b.silence(d.between(0.1, 0.7, r.Lease))
	})},
	{"silence a worker's network, longer than the lease", 3, onWorker(func(r *run, d draw, b *berth) {
		b.silence(d.between(1.2, 2.5, r.Lease))
	})},
	{"late answers to a worker, then silence", 3, onWorker(func(r *run, d draw, b *berth) {
		b.link.Slow(r.Lease / 2)
		time.Sleep(d.between(0.6, 1.4, r.Lease))
		b.link.Silence()
		b.link.Slow(0)
		time.Sleep(2 * r.Lease)
		b.link.Talk()
	})},
}

// The faults of the server.
var serverFaults = []faultKind{
	{"stop the server, shorter than the lease", 2, onServer(func(r *run, d draw) { r.stopServer(d.between(0.1, 0.8, r.Lease)) })},
	{"stop the server, longer than the lease", 2, onServer(func(r *run, d draw) { r.stopServer(d.between(1.2, 2, r.Lease)) })},
	{"kill -9 the server and restart it", 2, onServer((*run).restart)},
	{"CLIENT KILL subscribers", 3, onServer(func(r *run, d draw) { r.command("CLIENT", "KILL", "TYPE", "pubsub") })},
	{"CLIENT KILL other connections", 2, onServer(func(r *run, d draw) { r.command("CLIENT", "KILL", "TYPE", "normal") })},
	{"SCRIPT FLUSH", 3, onServer(func(r *run, d draw) { r.command("SCRIPT", "FLUSH") })},
}

// forceFault is for locks that can be forced. It is a use, and a loss for the
// holder.
var forceFault = faultKind{"force a lock", 6, (*run).force}

func onWorker(do func(*run, draw, *berth)) func(*run, draw) string {
	return func(r *run, d draw) string {
		b := r.crew.berths[d.victim%len(r.crew.berths)]
		if !b.turn.TryLock() {
			return "" // it is being disturbed
		}
		defer b.turn.Unlock()
		name := b.child.name
		do(r, d, b)
		return name
	}
}

func onServer(do func(*run, draw)) func(*run, draw) string {
	return func(r *run, d draw) string {
		if !r.serverTurn.TryLock() {
			return ""
		}
		defer r.serverTurn.Unlock()
		do(r, d)
		return server
	}
}

func (b *berth) silence(d time.Duration) {
	b.link.Silence()
	time.Sleep(d)
	b.link.Talk()
}

// stopInside stops the worker that next reads the ledger, before it has the answer:
// it is inside for certain, and goes on when its lease is over.
func (r *run) stopInside(d draw) string {
	type stopped struct {
		berth *berth
		from  moment
	}
	found := make(chan stopped, 1)
	r.ledger.onNextRead(func(process int64) {
		for _, b := range r.crew.berths {
			if b.turn.TryLock() {
				if b.child.id == process {
					at := r.clock.now()
					_ = b.child.Stop() // one that has ended by itself is noted
					found <- stopped{b, at}
					return
				}
				b.turn.Unlock()
			}
		}
		close(found) // it is being disturbed
	})
	var s stopped
	ok := true
	select {
	case s, ok = <-found:
	case <-time.After(5 * r.Lease): // nobody reads
		r.ledger.onNextRead(nil)
		select {
		case s, ok = <-found: // just now
		default:
			ok = false
		}
	}
	if !ok {
		return ""
	}
	defer s.berth.turn.Unlock()
	time.Sleep(d.between(1.2, 2.5, r.Lease))
	name := s.berth.child.name
	if d.coin || d.much < 0.5 {
		r.crew.resume(s.berth.child, s.from)
		return name
	}
	r.history.stalled(s.berth.child.id, span{s.from, r.clock.now()})
	r.note(r.crew.kill(s.berth))
	return name + ", and kill it there"
}

func (r *run) stopServer(d time.Duration) {
	_ = r.server.Stop() // one that has ended cannot be restarted either, which is noted
	time.Sleep(d)
	_ = r.server.Continue()
}

func (r *run) restart(d draw) {
	from := r.clock.now()
	r.server.Kill()
	time.Sleep(d.between(0, 0.5, r.Lease))
	r.note(r.server.Launch(context.Background()))
	if r.Restart == lossy {
		r.history.mu.Lock()
		r.history.forgotten = append(r.history.forgotten, span{from, r.clock.now()})
		r.history.mu.Unlock()
	}
}

func (r *run) command(args ...any) {
	r.note(r.admin.Do(context.Background(), args...).Err())
}

// force frees a lock whoever holds it, if it can in the middle of long work, and
// makes the next holder's work long: so one sees whether the first learns of it
// though there is a hold of the lock.
func (r *run) force(d draw) string {
	lock := d.victim % r.Locks
	for end := r.clock.now() + 4*r.Lease; r.clock.now() < end; time.Sleep(10 * time.Millisecond) {
		if long, ok := r.ledger.longSection(r.clock.now() - r.Lease/4); ok {
			lock = long
			break
		}
	}
	m, err := r.forcer.Mutex(lockName(lock))
	if err != nil {
		r.note(err)
		return ""
	}
	if d.coin {
		r.ledger.delayNextRead(lock, 2*r.Lease)
	}
	from := r.clock.now()
	freed, err := m.ForceUnlock(context.Background())
	f := forcing{span: span{from, r.clock.now()}, lock: lock, freed: freed, unknown: err != nil}
	r.history.mu.Lock()
	r.history.forced = append(r.history.forced, f)
	r.history.mu.Unlock()
	return fmt.Sprintf("%d", lock)
}

// calmAfter is after how many faults there is some time without.
const calmAfter = 15

// disturb makes faults until ctx is done, four at a time at most, and waits for
// their end. The seed decides which, whom and how long; what they meet it does not.
func (r *run) disturb(ctx context.Context) {
	random := rand.New(rand.NewPCG(r.Seed, 0))
	kinds := append(append([]faultKind{}, workerFaults...), serverFaults...)
	if r.forcer != nil {
		kinds = append(kinds, forceFault)
	}
	turns := make(chan struct{}, 4)
	var active sync.WaitGroup
	defer active.Wait()
	for n := 1; ; n++ {
		pause := time.Duration(50+random.IntN(200)) * time.Millisecond
		kind := pick(kinds, random)
		d := draw{victim: random.IntN(1 << 20), much: random.Float64(), coin: random.IntN(2) == 0}
		if n%calmAfter == 0 {
			active.Wait()
			pause = r.judgement().longestWait() + 3*r.Lease
		}
		if !wait(ctx, pause) {
			return
		}
		turns <- struct{}{}
		active.Go(func() {
			defer func() { <-turns }()
			from := r.clock.now()
			if target := kind.do(r, d); target != "" {
				r.history.mu.Lock()
				r.history.faults = append(r.history.faults, fault{kind.name, target, span{from, r.clock.now()}})
				r.history.mu.Unlock()
			}
		})
	}
}

func pick(kinds []faultKind, random *rand.Rand) faultKind {
	all := 0
	for _, k := range kinds {
		all += k.weight
	}
	n := random.IntN(all)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("unreachable")
}

// wait waits for d, and tells whether ctx lasted as long.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
