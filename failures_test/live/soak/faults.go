package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// fault is one disturbance, as it happened.
type fault struct {
	kind, target string
	span
}

// faultKind is a way to disturb a run.
type faultKind struct {
	name   string
	weight int
	// low and high are how long it lasts, in leases.
	low, high float64
	// do disturbs a worker, or the server, for so long, and mends.
	do       func(*run, *berth, time.Duration)
	onServer bool
}

// faultKinds are those that fit the settings.
func (s settings) faultKinds() []faultKind {
	kinds := []faultKind{
		{"kill -9 a worker", 3, 0, 0, (*run).replace, false},
		{"stop a worker, shorter than the lease", 2, 0.2, 0.8, (*run).pause, false},
		{"stop a worker, longer than the lease", 5, 1.2, 2.5, (*run).pause, false},
		{"stop a worker, longer than the lease, and kill it there", 1, 1.2, 2.5, (*run).replace, false},
		{"cut a worker's connections", 2, 0, 0, (*run).cut, false},
		{"silence a worker's network, shorter than the lease", 2, 0.1, 0.7, (*run).silence, false},
		{"silence a worker's network, longer than the lease", 3, 1.2, 2.5, (*run).silence, false},
		{"late answers to a worker, then silence", 3, 0.6, 1.4, (*run).slow, false},
		{"stop the server, shorter than the lease", 2, 0.1, 0.8, (*run).pause, true},
		{"stop the server, longer than the lease", 2, 1.2, 2, (*run).pause, true},
		{"kill -9 the server and restart it", 2, 0, 0.5, (*run).restart, true},
		{"CLIENT KILL subscribers", 3, 0, 0, send("CLIENT", "KILL", "TYPE", "pubsub"), true},
		{"CLIENT KILL other connections", 2, 0, 0, send("CLIENT", "KILL", "TYPE", "normal"), true},
		{"SCRIPT FLUSH", 3, 0, 0, send("SCRIPT", "FLUSH"), true},
	}
	if s.Lossy {
		kinds = append(kinds, faultKind{"FLUSHALL", 2, 0, 0, (*run).flush, true})
	}
	if s.Lock == finalLock { // the others cannot be forced
		kinds = append(kinds, faultKind{"force a lock", 6, 0, 0, (*run).force, true})
	}
	return kinds
}

// strike makes a fault, and notes it. Whoever is disturbed already is left alone.
func (r *run) strike(k faultKind, random *rand.Rand) {
	b := r.berths[random.IntN(len(r.berths))]
	if k.onServer {
		b = &r.redis
	}
	long := times(r.Lease, k.low+random.Float64()*(k.high-k.low))
	if !b.turn.TryLock() {
		return
	}
	defer b.turn.Unlock()
	f := fault{k.name, b.name, span{from: r.clock.now()}}
	k.do(r, b, long)
	f.to = r.clock.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, f)
}

// replace stops a worker for some time, and ends it as kill -9 does.
func (r *run) replace(b *berth, d time.Duration) {
	_ = b.Stop() // one that has ended by itself is noted
	time.Sleep(d)
	b.Kill()
	r.note(r.start(b))
}

// pause stops a worker, or the server, for some time.
func (r *run) pause(b *berth, d time.Duration) {
	stall := span{from: r.clock.now()}
	_ = b.Stop() // a worker that has ended by itself is noted
	time.Sleep(d)
	_ = b.Continue()
	stall.to = r.clock.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b.stalls = append(b.stalls, stall)
}

func (r *run) cut(b *berth, _ time.Duration) { b.way.Cut() }

func (r *run) silence(b *berth, d time.Duration) {
	b.way.Silence()
	time.Sleep(d)
	b.way.Talk()
}

func (r *run) slow(b *berth, d time.Duration) {
	b.way.Slow(r.Lease / 2)
	time.Sleep(d)
	b.way.Slow(0)
	r.silence(b, 2*r.Lease)
}

func (r *run) restart(_ *berth, d time.Duration) {
	r.lose(every, func() bool {
		r.server.Kill()
		time.Sleep(d)
		r.note(r.server.Launch(context.Background()))
		r.redis.Process = r.server.Process
		return r.Lossy
	})
}

func (r *run) flush(*berth, time.Duration) {
	r.lose(every, func() bool {
		r.note(r.admin.FlushAll(context.Background()).Err())
		return true
	})
}

// force frees a lock, whoever holds it: an operator's use, and a loss for the holder.
func (r *run) force(*berth, time.Duration) {
	lock := r.forced % r.Locks
	r.forced++
	r.lose(lock, func() bool {
		m, err := r.forcer.Mutex(lockName(lock))
		r.note(err)
		freed, err := m.ForceUnlock(context.Background())
		return freed || err != nil
	})
}

// lose notes that holds were taken away while do ran, or may have been: do tells.
func (r *run) lose(lock int, do func() bool) {
	l := loss{lock: lock, span: span{from: r.clock.now()}}
	if !do() {
		return
	}
	l.to = r.clock.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losses = append(r.losses, l)
}

// send is a fault that an operator can type.
func send(args ...any) func(*run, *berth, time.Duration) {
	return func(r *run, _ *berth, _ time.Duration) { r.note(r.admin.Do(context.Background(), args...).Err()) }
}

// calmAfter is after how many faults there is some time without.
const calmAfter = 15

// disturb makes faults until ctx is done, four at a time at most, and waits for
// their end. The seed decides which, whom and how long; what they meet it does not.
func (r *run) disturb(ctx context.Context) {
	random := rand.New(rand.NewPCG(r.Seed, 0))
	var deck []faultKind // each as often as it weighs
	for _, k := range r.faultKinds() {
		for range k.weight {
			deck = append(deck, k)
		}
	}
	turns := make(chan struct{}, 4)
	var active sync.WaitGroup
	defer active.Wait()
	for n := uint64(1); ; n++ {
		pause := time.Duration(50+random.IntN(200)) * time.Millisecond
		if n%calmAfter == 0 {
			active.Wait()
			pause = r.longestWait() + 3*r.Lease
		}
		k := deck[random.IntN(len(deck))]
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		turns <- struct{}{}
		active.Go(func() {
			defer func() { <-turns }()
			r.strike(k, rand.New(rand.NewPCG(r.Seed, n)))
		})
	}
}
