package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"lockkata/failures_test/live/fleet"
)

// workerCommand is the first argument of a process that works for the benchmark.
const workerCommand = "worker"

// order is what a worker is asked to do. It answers each, one after the other.
type order struct {
	Do   string        `json:"do"`
	Name string        `json:"name,omitempty"`
	N    int           `json:"n,omitempty"`
	For  time.Duration `json:"for,omitempty"`
	Side int           `json:"side,omitempty"`
	Burn bool          `json:"burn,omitempty"`
}

// The orders.
const (
	lockOrder   = "lock"   // waits for the lock and keeps it
	unlockOrder = "unlock" // gives it back
	turnOrder   = "turn"   // waits for the lock, keeps it for some time, gives it back
	idleOrder   = "idle"   // waits N times for the lock, and answers when all do
	usageOrder  = "usage"  // only answers
	holdOrder   = "hold"   // takes N locks and keeps them
	watchOrder  = "watch"  // looks at what is held, for some time
	pairsOrder  = "pairs"  // locks and unlocks N times on each of Side goroutines
)

// answer is what a worker says about an order. Moments are in nanoseconds of the
// clock that all processes of a machine share.
type answer struct {
	Error    string  `json:"error,omitempty"`
	Turns    []turn  `json:"turns,omitempty"`
	CPU      float64 `json:"cpu"`      // seconds that the process has used so far
	Messages int64   `json:"messages"` // of pub/sub that it has got so far
	Holding  holding `json:"holding"`
	Lap      lap     `json:"lap"`
}

// turn is one hold of the lock.
type turn struct {
	Called   int64 `json:"called"`
	Locked   int64 `json:"locked"`
	Unlocked int64 `json:"unlocked"` // when the unlock was called
	Token    int64 `json:"token"`
}

// worker is another process of this program, with a locker of its own.
type worker struct{ *fleet.Process }

// startWorker starts one. It ends when its orders end, and with this process.
func startWorker(kind string, s settings) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	given, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p, err := fleet.Start(exec.Command(self, workerCommand, kind, string(given)))
	return &worker{p}, err
}

// startWorkers starts n of one kind.
func startWorkers(n int, kind string, s settings) ([]*worker, error) {
	var all []*worker
	for range n {
		w, err := startWorker(kind, s)
		if err != nil {
			endWorkers(all)
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// tell gives an order; hear waits for the answer to the oldest order that is open.
func (w *worker) tell(o order) error { return w.Tell(o) }

func (w *worker) hear() (answer, error) {
	var a answer
	if err := w.Hear(&a); err != nil {
		return a, fmt.Errorf("bench: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("bench: a worker says: %s", a.Error)
	}
	return a, nil
}

func (w *worker) ask(o order) (answer, error) {
	if err := w.tell(o); err != nil {
		return answer{}, err
	}
	return w.hear()
}

func (w *worker) end() { w.Kill() }

func endWorkers(all []*worker) {
	for _, w := range all {
		w.end()
	}
}

// work is the life of a worker: it does one order after the other.
func work(ctx context.Context, args []string) {
	answers := json.NewEncoder(os.Stdout)
	fail := func(err error) { _ = answers.Encode(answer{Error: err.Error()}) } // the reader may be gone
	if len(args) != 2 {
		fail(fmt.Errorf("bench: a worker wants a kind and settings, not %q", args))
		return
	}
	var s settings
	if err := json.Unmarshal([]byte(args[1]), &s); err != nil {
		fail(err)
		return
	}
	l, t, err := open(args[0], s)
	if err != nil {
		fail(err)
		return
	}
	p := &performer{locker: l, locks: map[string]held{}}
	for o := range readOrders(os.Stdin) {
		a, err := p.perform(ctx, o)
		if err != nil {
			a.Error = err.Error()
		}
		a.CPU = cpuSeconds()
		if t != nil {
			a.Messages = t.messages.Load()
		}
		_ = answers.Encode(a)
	}
}

// readOrders reads orders, and ends the process with the last one: whoever gave
// them has ended, perhaps while a lock is waited for.
func readOrders(in io.Reader) <-chan order {
	orders := make(chan order, 16)
	go func() {
		decoder := json.NewDecoder(in)
		for {
			var o order
			if decoder.Decode(&o) != nil {
				os.Exit(0)
			}
			orders <- o
		}
	}()
	return orders
}

// cpuSeconds is how much of the processors this process has used.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return -1
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
