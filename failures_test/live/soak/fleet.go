//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lockkata/failures_test/redisserver"
)

// berth is the place of one worker: its link to Redis, and the process that is
// there now. A killed one is replaced.
type berth struct {
	name string
	link *link

	turn  sync.Mutex // who holds it may disturb this worker
	child *child
}

// child is a worker process of ours.
type child struct {
	id    int64
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  bytes.Buffer
	// expected says that its end is our doing.
	expected atomic.Bool
	ended    chan struct{} // closed when it has ended and all it said is recorded
}

// fleet is all workers.
type fleet struct {
	settings
	clock   clock
	history *history
	ledger  *ledger
	berths  []*berth
	started int64
	late    sync.WaitGroup // answers that are still to be sent
}

// launch starts the workers, each with a link of its own to the server.
func (f *fleet) launch(dir, server string) error {
	for i := range f.Workers {
		l, err := openLink(filepath.Join(dir, "w"+strconv.Itoa(i)), server)
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
func (f *fleet) start(b *berth) error {
	id := atomic.AddInt64(&f.started, 1)
	c := &child{id: id, name: b.name, ended: make(chan struct{})}
	if b.child != nil {
		c.name = b.child.name + "'"
	}
	text, err := json.Marshal(orders{
		Clock: f.clock, Process: int(id), Socket: b.link.socket(), Lock: f.Lock, Locks: f.Locks,
		Goroutines: f.Goroutines, Lease: f.Lease, Seed: f.Seed,
	})
	if err != nil {
		return err
	}
	itself, err := os.Executable()
	if err != nil {
		return err
	}
	c.cmd = exec.Command(itself)
	c.cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	c.cmd.Stderr = &c.said
	redisserver.EndWithParent(c.cmd)
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	f.history.begin(id, c.name, f.clock.now())
	if err := c.cmd.Start(); err != nil {
		return err
	}
	b.child = c
	go f.hear(c, out)
	return nil
}

// hear records what a worker says until it ends.
func (f *fleet) hear(c *child, out io.Reader) {
	defer close(c.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			continue // it was killed in the middle of a line, or the line is a panic's
		}
		if r, answer := f.history.take(c.id, m, f.ledger, f.clock.now()); answer {
			f.answerLate(c, r)
		}
	}
	err := c.cmd.Wait()
	if !c.expected.Load() || err != nil && !isKilled(err) {
		f.history.mu.Lock()
		defer f.history.mu.Unlock()
		f.history.notes = append(f.history.notes, note{kind: deadWorker, at: f.clock.now(),
			text: fmt.Sprintf("%s ended: %v: %s", c.name, err, c.said.String())})
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

func (f *fleet) answerLate(c *child, r reply) {
	if r.late == 0 {
		f.answer(c, r)
		return
	}
	f.late.Go(func() {
		time.Sleep(r.late)
		f.answer(c, r)
	})
}

func (f *fleet) answer(c *child, r reply) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	_, _ = c.stdin.Write(append(line, '\n')) // a killed worker needs no answer
}

// kill ends a worker as kill -9 does, and starts another.
func (f *fleet) kill(b *berth) error {
	b.child.end()
	return f.start(b)
}

func (c *child) end() {
	c.expected.Store(true)
	_ = c.cmd.Process.Kill() // it may have ended by itself, which is noted
	<-c.ended
}

// stop stops a worker's process for some time.
func (f *fleet) stop(c *child, d time.Duration) {
	from := f.clock.now()
	_ = c.cmd.Process.Signal(syscall.SIGSTOP) // one that has ended by itself is noted
	time.Sleep(d)
	f.resume(c, from)
}

func (f *fleet) resume(c *child, from moment) {
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
	f.history.stalled(c.id, span{from, f.clock.now()})
}

// patience is how long the workers may take to end.
const patience = 20 * time.Second

// end lets the workers finish what they do, and waits for them.
func (f *fleet) end() {
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
func (f *fleet) close() {
	for _, b := range f.berths {
		if b.child != nil {
			b.child.end()
		}
		b.link.close()
	}
	f.late.Wait()
}
