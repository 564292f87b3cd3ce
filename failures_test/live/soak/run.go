package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// run is one soak: the driver's side.
type run struct {
	*history
	clock   clock
	berths  []*berth
	redis   berth          // the server's: no way leads to it
	hearing sync.WaitGroup // the workers
	started atomic.Int64   // worker processes
	server  *redisserver.Server
	books   *redisserver.Server // for the ledger
	admin   *redis.Client       // past every proxy
	forcer  *stage6.Service     // nil: the lock cannot be forced
	forced  int                 // how often
	checked linearizability
	errs    []error // the driver's own: the run says nothing then; history.mu guards them
}

// redisName is the server's, as the target of faults.
const redisName = "redis"

// berth is the place of one worker: its way to Redis, and the process that is there
// now. A killed one is replaced.
type berth struct {
	turn sync.Mutex // who holds it may disturb this worker
	way  *proxy.Proxy
	*process
}

// process is one worker process.
type process struct {
	*fleet.Process
	name   string // w1, w2, … in the order in which they came
	last   moment // its last sign of life; history.mu guards this
	stalls []span // when it stood still; and this
}

// note keeps an error of the driver's own.
func (r *run) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// soak makes a run and judges it. An error means that the run itself failed.
func soak(ctx context.Context, s settings) (*run, error) {
	var config redisserver.Config
	if !s.Lossy {
		// Redis writes before it answers. What a killed process has written the
		// system keeps: only a power failure would need an fsync, and a busy disk
		// makes that a fault of its own.
		config.Args = []string{"--appendonly", "yes", "--appendfsync", "no"}
	}
	r := &run{
		clock: clock(monotonic()), redis: berth{process: &process{name: redisName}},
		history: &history{settings: s, holds: map[int64]*hold{}, counts: map[string]int{}},
	}
	var err error
	if r.server, err = redisserver.Start(ctx, config); err != nil {
		return nil, err
	}
	defer func() { _ = r.server.Close() }()
	r.redis.Process = r.server.Process
	if r.books, err = redisserver.Start(ctx, redisserver.Config{}); err != nil {
		return nil, err
	}
	defer func() { _ = r.books.Close() }()
	r.admin = redisserver.NewClient(r.server.Socket(), func(o *redis.Options) { o.ReadTimeout = time.Minute }) // the server may stand still
	defer r.admin.Close()
	if s.Lock == finalLock {
		if r.forcer, err = stage6.NewService(r.admin, stage6.WithWatchdogTimeout(s.Lease)); err != nil {
			return nil, err
		}
		defer r.forcer.Close()
	}
	defer r.clear()
	for range s.Workers {
		way, err := proxy.Open(proxy.Config{Server: r.server.Socket()})
		if err != nil {
			return nil, err
		}
		b := &berth{way: way}
		r.berths = append(r.berths, b)
		if err := r.start(b); err != nil {
			return nil, err
		}
	}
	lasting, over := context.WithTimeout(ctx, s.For)
	defer over()
	r.disturb(lasting)
	r.until = r.clock.now()
	r.dismiss()
	r.leaks()
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("the driver failed: %w", err)
	}
	r.checked = r.judge()
	return r, nil
}

// start starts a process in a berth.
func (r *run) start(b *berth) error {
	o := orders{r.settings, r.clock, r.started.Add(1), b.way.Addr(), r.books.Socket()}
	p, err := fleet.Start(fleet.Again(o))
	if err != nil {
		return err
	}
	b.process = &process{Process: p, name: fmt.Sprintf("w%d", o.Process), last: r.clock.now()}
	hears := b.process
	r.hearing.Go(func() { r.hear(hears) })
	return nil
}

// hear records what a worker says until it ends.
func (r *run) hear(p *process) {
	for {
		var e event
		if err := p.Hear(&e); errors.Is(err, fleet.ErrEnded) {
			break
		} else if err == nil {
			r.take(p, e)
		} // else the line is a panic's
	}
	if err := p.Wait(); err != nil {
		r.dead(p, err)
	}
}

func (r *run) dead(p *process, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.convict(deadWorker, fmt.Sprintf("%s: %v", p.name, err))
}

// dismiss lets the workers finish what they do, and waits for them, within bounds.
func (r *run) dismiss() {
	late := time.AfterFunc(20*time.Second, func() {
		for _, b := range r.berths {
			r.dead(b.process, errors.New("it does not end"))
			b.Kill()
		}
	})
	for _, b := range r.berths {
		_ = b.Tell("end") // one that has ended is noted
	}
	r.hearing.Wait()
	late.Stop()
}

// clear ends what is left: all of it where the run broke off.
func (r *run) clear() {
	for _, b := range r.berths {
		if b.process != nil {
			b.Kill()
		}
		b.way.Close()
	}
}

// leaks finds keys of locks that are left when every lease must be over.
func (r *run) leaks() {
	time.Sleep(r.Lease + r.slack())
	ctx := context.Background()
	keys, err := r.admin.Keys(ctx, "*").Result()
	r.note(err)
	for _, key := range keys {
		if r.Lock == finalLock && strings.HasSuffix(key, ":token") {
			continue // they stay, so that tokens rise
		}
		left, err := r.admin.PTTL(ctx, key).Result()
		r.note(err)
		r.convict(leakedKey, fmt.Sprintf("%s is left, with a time to live of %v, though every process has ended and every lease is over", key, left))
	}
}
