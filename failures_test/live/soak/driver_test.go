//go:build live && unix

package soak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The size of a run.
const (
	workers    = 8  // processes
	goroutines = 16 // in each
	locks      = 4  // that they share
	lease      = 500 * time.Millisecond
)

// settings are the parameters of a run.
type settings struct {
	Lock  string
	Lossy bool // the server may lose its data
	Seed  uint64
}

// run is the driver's side of a soak.
type run struct {
	settings
	*history
	t       *testing.T
	clock   clock
	slots   []*slot
	server  *redisserver.Server
	onRedis slot // busy during a fault of the server
	ledger  *redisserver.Server
	ledgers *redis.Client   // of that server
	admin   *redis.Client   // not through a proxy
	forcer  *stage6.Service // nil: the lock has no ForceUnlock
	forced  int
	readers sync.WaitGroup // of the workers' events
	started atomic.Int64   // processes

	operations, undecided int // of the check
}

// slot is one of the workers: its way to Redis and its current process. A killed
// process is replaced.
type slot struct {
	busy  sync.Mutex // held during a fault of this worker
	proxy *proxy.Proxy
	*process
}

// process is one worker process. history.mu guards last and ended.
type process struct {
	*fleet.Process
	name  string        // w1, w2, … in the order of their starts
	last  event         // the latest
	ended time.Duration // when the ledgers had executed all its commands
}

// soak runs the workers and the faults for some time, and checks the history.
func soak(t *testing.T, s settings, d time.Duration) *run {
	var config redisserver.Config
	if !s.Lossy {
		// Redis writes to the file before it answers, and the kernel keeps the data of a killed
		// process. Only a power failure would need an fsync, which is slow on a busy disk.
		config.Args = []string{"--appendonly", "yes", "--appendfsync", "no"}
	}
	r := &run{
		settings: s, t: t, clock: clock(clock(0).now()), onRedis: slot{process: &process{name: "redis"}},
		history: &history{holds: map[int64]*hold{}, counts: map[string]int{}},
		server:  redisserver.ForTest(t, config), ledger: redisserver.ForTest(t, redisserver.Config{}),
	}
	// The server may be stopped for longer than the usual timeout.
	r.admin = realredis.NewClient(r.server.Socket(), func(o *redis.Options) { o.ReadTimeout = time.Minute })
	defer r.admin.Close()
	r.ledgers = realredis.NewClient(r.ledger.Socket())
	defer r.ledgers.Close()
	defer r.readers.Wait() // after the workers are killed
	if s.Lock == finalLock {
		var err error
		r.forcer, err = stage6.NewService(r.admin, stage6.WithWatchdogTimeout(lease))
		require.NoError(t, err)
		defer r.forcer.Close()
	}
	for range workers {
		p, err := proxy.Open(r.server.Socket())
		require.NoError(t, err)
		w := &slot{proxy: p}
		defer p.Close()
		require.NoError(t, r.start(w))
		defer func() { w.Kill() }() // the current process, not the first
		r.slots = append(r.slots, w)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	r.disturb(ctx)
	r.until = r.clock.now()
	r.finish()
	r.checkKeys()
	r.operations, r.undecided = r.check()
	return r
}

// start starts a worker process in a slot.
func (r *run) start(w *slot) error {
	j := job{r.settings, r.clock, r.started.Add(1), w.proxy.Addr(), r.ledger.Socket()}
	p, err := fleet.Start(fleet.Again(j))
	if err != nil {
		return err
	}
	started := &process{Process: p, name: fmt.Sprintf("w%d", j.Process)}
	w.process = started
	r.readers.Go(func() { r.readEvents(started) })
	return nil
}

// readEvents records the events of a worker until it ends.
func (r *run) readEvents(p *process) {
	for {
		var e event
		if err := p.Hear(&e); errors.Is(err, fleet.ErrEnded) {
			break
		} else if err == nil {
			r.add(p, e)
		} // otherwise it is a line of a panic
	}
	if err := p.Wait(); err != nil {
		r.addViolation(deadWorker, fmt.Sprintf("%s: %v", p.name, err))
	}
	// Redis answers after it has executed what other connections had sent before.
	assert.NoError(r.t, r.ledgers.Ping(context.Background()).Err())
	r.mu.Lock()
	defer r.mu.Unlock()
	p.ended = r.clock.now()
}

// finish lets the workers complete their work.
func (r *run) finish() {
	late := time.AfterFunc(20*time.Second, func() {
		for _, w := range r.slots {
			r.addViolation(deadWorker, w.name+" does not end")
			w.Kill()
		}
	})
	for _, w := range r.slots {
		_ = w.Tell("end") // readEvents reports a worker that has ended by itself
	}
	r.readers.Wait()
	late.Stop()
}

// checkKeys reports keys that are left after the end of every lease. The last command of a killed
// worker may have come later than its end.
func (r *run) checkKeys() {
	time.Sleep(2 * lease)
	keys, err := r.admin.Keys(r.t.Context(), "*").Result()
	assert.NoError(r.t, err)
	for _, key := range keys {
		if r.Lock == finalLock && strings.HasSuffix(key, ":token") {
			continue // the counter of tokens stays
		}
		r.addViolation(leakedKey, fmt.Sprintf("%s, with a time to live of %v", key, r.admin.PTTL(r.t.Context(), key).Val()))
	}
}
