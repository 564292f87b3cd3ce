//go:build live && unix

package soak

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
)

// fault is a disturbance that happened.
type fault struct {
	kind, target string
	span
}

// faultKind is a way to disturb a run.
type faultKind struct {
	name      string
	weight    int
	low, high float64 // how long it lasts, in leases
	onServer  bool    // not on a worker
	do        func(*run, *slot, time.Duration)
}

// faultKinds returns those that the lock and the server allow.
func (s settings) faultKinds() []faultKind {
	kinds := []faultKind{
		{"kill -9 a worker", 3, 0, 0, false, (*run).replace},
		{"stop a worker, shorter than the lease", 2, 0.2, 0.8, false, (*run).stop},
		{"stop a worker, longer than the lease", 5, 1.2, 2.5, false, (*run).stop},
		{"stop a worker, longer than the lease, and kill it then", 1, 1.2, 2.5, false, (*run).replace},
		{"cut a worker's connections", 2, 0, 0, false, func(_ *run, w *slot, _ time.Duration) { w.proxy.Cut() }},
		{"silence a worker's network, shorter than the lease", 2, 0.1, 0.7, false, (*run).silence},
		{"silence a worker's network, longer than the lease", 3, 1.2, 2.5, false, (*run).silence},
		{"late answers to a worker, then silence", 3, 0.6, 1.4, false, (*run).slow},
		{"stop the server, shorter than the lease", 2, 0.1, 0.8, true, (*run).stopServer},
		{"stop the server, longer than the lease", 2, 1.2, 2, true, (*run).stopServer},
		{"kill -9 the server and restart it", 2, 0, 0.5, true, (*run).restart},
		{"CLIENT KILL subscribers", 3, 0, 0, true, command("CLIENT", "KILL", "TYPE", "pubsub")},
		{"CLIENT KILL other connections", 2, 0, 0, true, command("CLIENT", "KILL", "TYPE", "normal")},
		{"SCRIPT FLUSH", 3, 0, 0, true, command("SCRIPT", "FLUSH")},
	}
	if s.Lossy {
		kinds = append(kinds, faultKind{"FLUSHALL", 2, 0, 0, true, (*run).flush})
	}
	if s.Lock == finalLock {
		kinds = append(kinds, faultKind{"force a lock", 6, 0, 0, true, (*run).force})
	}
	return kinds
}

// disturb causes faults until ctx is done, at most four at once, and waits for their end. The seed
// determines their kinds, targets and durations.
func (r *run) disturb(ctx context.Context) {
	const calmAfter = 15 // a time without faults follows so many of them
	random := rand.New(rand.NewPCG(r.Seed, 0))
	var deck []faultKind
	for _, k := range r.faultKinds() {
		for range k.weight {
			deck = append(deck, k)
		}
	}
	slots := make(chan struct{}, 4)
	var active sync.WaitGroup
	defer active.Wait()
	for n := uint64(1); ; n++ {
		pause := time.Duration(50+random.IntN(200)) * time.Millisecond
		if n%calmAfter == 0 {
			active.Wait()
			pause = longestWait + 3*lease
		}
		k := deck[random.IntN(len(deck))]
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		slots <- struct{}{}
		active.Go(func() {
			defer func() { <-slots }()
			r.strike(k, rand.New(rand.NewPCG(r.Seed, n)))
		})
	}
}

// strike causes a fault, unless its target is already disturbed.
func (r *run) strike(k faultKind, random *rand.Rand) {
	target := r.slots[random.IntN(len(r.slots))]
	if k.onServer {
		target = &r.onRedis
	}
	d := scale(lease, k.low+random.Float64()*(k.high-k.low))
	if !target.busy.TryLock() {
		return
	}
	defer target.busy.Unlock()
	f := fault{k.name, target.name, span{from: r.clock.now()}}
	k.do(r, target, d)
	f.to = r.clock.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, f)
}

// replace stops a worker for some time, kills it and starts another one.
func (r *run) replace(w *slot, d time.Duration) {
	_ = w.Stop() // readEvents reports a worker that has ended by itself
	time.Sleep(d)
	w.Kill()
	assert.NoError(r.t, r.start(w))
}

func (*run) stop(w *slot, d time.Duration) {
	_ = w.Stop() // as in replace
	time.Sleep(d)
	_ = w.Continue()
}

func (r *run) silence(w *slot, d time.Duration) {
	w.proxy.Silence()
	time.Sleep(d)
	w.proxy.Talk()
}

func (r *run) slow(w *slot, d time.Duration) {
	w.proxy.Slow(lease / 2)
	time.Sleep(d)
	w.proxy.Slow(0)
	r.silence(w, 2*lease)
}

func (r *run) stopServer(_ *slot, d time.Duration) {
	assert.NoError(r.t, r.server.Stop())
	time.Sleep(d)
	assert.NoError(r.t, r.server.Continue())
}

func (r *run) restart(_ *slot, d time.Duration) {
	r.lose(everyLock, func() bool {
		r.server.Kill()
		time.Sleep(d)
		assert.NoError(r.t, r.server.Launch(context.Background()))
		return r.Lossy
	})
}

func (r *run) flush(*slot, time.Duration) {
	r.lose(everyLock, func() bool {
		return assert.NoError(r.t, r.admin.FlushAll(context.Background()).Err())
	})
}

// force frees one of the locks, as an operator does.
func (r *run) force(*slot, time.Duration) {
	lock := r.forced % locks
	r.forced++
	r.lose(lock, func() bool {
		m, err := r.forcer.Mutex(keyOf(lock))
		assert.NoError(r.t, err)
		freed, err := m.ForceUnlock(context.Background())
		return freed || err != nil // it may have happened
	})
}

// lose records a loss of holds if do reports that one is possible.
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

// command returns a fault that sends a command to the server.
func command(args ...any) func(*run, *slot, time.Duration) {
	return func(r *run, _ *slot, _ time.Duration) {
		assert.NoError(r.t, r.admin.Do(context.Background(), args...).Err())
	}
}

// scale returns n times d.
func scale(d time.Duration, n float64) time.Duration { return time.Duration(n * float64(d)) }
