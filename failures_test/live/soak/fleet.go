//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/proxy"
)

// berth is the place of one worker: its link to Redis, and the process that is
// there now. A killed one is replaced.
type berth struct {
	name string
	link *proxy.Proxy

	turn  sync.Mutex // who holds it may disturb this worker
	child *child
}

// child is a worker process of ours.
type child struct {
	id   int64
	name string
	*fleet.Process
	// expected says that its end is our doing.
	expected atomic.Bool
	ended    chan struct{} // closed when it has ended and all it said is recorded
}

// crew is all workers.
type crew struct {
	settings
	clock   clock
	history *history
	ledger  *ledger
	berths  []*berth
	started int64
	late    sync.WaitGroup // answers that are still to be sent
}

// launch starts the workers, each with a link of its own to the server.
func (f *crew) launch(dir, server string) error {
	for i := range f.Workers {
		l, err := proxy.Open(proxy.Config{Server: server, Socket: filepath.Join(dir, "w"+strconv.Itoa(i))})
		if err != nil {
			return err
		}
		b := &berth{name: fmt.Sprintf("w%d", i+1), link: l}
		f.berths = append(f.berths, b)
		if err := f.start(b); err != nil {
			return err
		}
	}
	return nil
}

// start starts a process in a berth. The first is called w1, the next w1'.
func (f *crew) start(b *berth) error {
	id := atomic.AddInt64(&f.started, 1)
	c := &child{id: id, name: b.name, ended: make(chan struct{})}
	if b.child != nil {
		c.name = b.child.name + "'"
	}
	f.history.begin(id, c.name, f.clock.now())
	var err error
	c.Process, err = fleet.Start(fleet.Again(orders{
		Clock: f.clock, Process: int(id), Socket: b.link.Addr(), Lock: f.Lock, Locks: f.Locks,
		Goroutines: f.Goroutines, Lease: f.Lease, Seed: f.Seed,
	}))
	if err != nil {
		return err
	}
	b.child = c
	go f.hear(c)
	return nil
}

// hear records what a worker says until it ends.
func (f *crew) hear(c *child) {
	defer close(c.ended)
	for {
		var m message
		if err := c.Hear(&m); errors.Is(err, fleet.ErrEnded) {
			break
		} else if err != nil {
			continue // the line is a panic's
		}
		if r, answer := f.history.take(c.id, m, f.ledger, f.clock.now()); answer {
			f.answerLate(c, r)
		}
	}
	err := c.Wait()
	if !c.expected.Load() || err != nil && !isKilled(err) {
		f.history.mu.Lock()
		defer f.history.mu.Unlock()
		f.history.notes = append(f.history.notes, note{kind: deadWorker, at: f.clock.now(),
			text: fmt.Sprintf("%s ended: %v", c.name, err)})
	}
}

func isKilled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

func (f *crew) answerLate(c *child, r reply) {
	if r.late == 0 {
		f.answer(c, r)
		return
	}
	f.late.Go(func() {
		time.Sleep(r.late)
		f.answer(c, r)
	})
}

func (f *crew) answer(c *child, r reply) {
	_ = c.Tell(r) // a killed worker needs no answer
}

// kill ends a worker as kill -9 does, and starts another.
func (f *crew) kill(b *berth) error {
	b.child.end()
	return f.start(b)
}

func (c *child) end() {
	c.expected.Store(true)
	c.Kill() // it may have ended by itself, which is noted
	<-c.ended
}

// stop stops a worker's process for some time.
func (f *crew) stop(c *child, d time.Duration) {
	from := f.clock.now()
	_ = c.Stop() // one that has ended by itself is noted
	time.Sleep(d)
	f.resume(c, from)
}

func (f *crew) resume(c *child, from moment) {
	_ = c.Continue()
	f.history.stalled(c.id, span{from, f.clock.now()})
}

// patience is how long the workers may take to end.
const patience = 20 * time.Second

// end lets the workers finish what they do, and waits for them.
func (f *crew) end() {
	for _, b := range f.berths {
		b.child.expected.Store(true)
		f.answer(b.child, reply{End: true})
	}
	late := time.After(patience)
	for _, b := range f.berths {
		select {
		case <-b.child.ended:
		case <-late:
			f.history.mu.Lock()
			f.history.notes = append(f.history.notes, note{kind: deadWorker, at: f.clock.now(),
				text: fmt.Sprintf("%s did not end within %v", b.child.name, patience)})
			f.history.mu.Unlock()
			b.child.end()
			late = time.After(0)
		}
	}
}

// close ends what is left: all of it where the run broke off.
func (f *crew) close() {
	for _, b := range f.berths {
		if b.child != nil {
			b.child.end()
		}
		b.link.Close()
	}
	f.late.Wait()
}
