// Command soak runs a lock for some time, on real processes under random faults,
// and reports every time it breaks its word.
//
//	go run ./failures_test/live/soak --for 60s
//	go run ./failures_test/live/soak --for 60s --lock stage4
//
// Eight worker processes with sixteen goroutines each share four locks on a
// redis-server of their own. Each lock guards a counter in the driver's ledger: a
// section reads it and writes it back raised by one, so that two at once lose an
// update. Meanwhile workers and the server are killed and stopped, connections cut,
// silenced and delayed. Afterwards the counters, the beliefs of the holders and
// the recorded history are judged, the history by porcupine.
//
// A run without violations says what was tried, and for how long. It is no proof.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"lockkata/failures_test/live/fleet"
)

// settings are what a run is asked for.
type settings struct {
	For        time.Duration
	Seed       uint64
	Lock       string
	Unfenced   bool
	Lossy      bool
	Workers    int
	Goroutines int
	Locks      int
	Lease      time.Duration
	line       string // all of them, as flags
}

// main exits with status 1 after a violation, and 2 where nothing was found out.
func main() {
	fleet.Serve(work)
	s, err := parse(os.Args[1:])
	if err == flag.ErrHelp {
		return
	}
	var r *run
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		fmt.Println("soak" + s.line)
		r, err = soak(ctx, s)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		os.Exit(2)
	}
	fmt.Print(r.report())
	if len(r.violations) > 0 {
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.DurationVar(&s.For, "for", time.Minute, "how long")
	flags.Uint64Var(&s.Seed, "seed", 0, "of the faults and the work; 0: any. A seed repeats what is done, not how the processes interleave")
	flags.StringVar(&s.Lock, "lock", finalLock, "stage1 to stage6")
	flags.BoolVar(&s.Unfenced, "unfenced", false, "the ledger looks at no fencing tokens")
	flags.BoolVar(&s.Lossy, "lossy", false, "the server may lose its data: it comes back empty when it was killed, and is flushed")
	flags.IntVar(&s.Workers, "workers", 8, "processes")
	flags.IntVar(&s.Goroutines, "goroutines", 16, "in each process")
	flags.IntVar(&s.Locks, "locks", 4, "that they share")
	flags.DurationVar(&s.Lease, "lease", 700*time.Millisecond, "of a lock")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for s.Seed == 0 {
		s.Seed = rand.Uint64N(1e9)
	}
	flags.VisitAll(func(f *flag.Flag) { s.line += fmt.Sprintf(" --%s=%v", f.Name, f.Value) })
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("there is no argument %q: all are flags", flags.Arg(0))
	case s.For <= 0 || s.Workers < 1 || s.Goroutines < 1 || s.Locks < 1:
		return s, fmt.Errorf("--for, --workers, --goroutines and --locks have to be positive")
	case s.Lease < 100*time.Millisecond:
		return s, fmt.Errorf("--lease %v is too short for processes that share a machine: use 100ms or more", s.Lease)
	}
	_, err := findLock(s.Lock)
	return s, err
}

// fenced tells whether the ledger looks at tokens: the stages before 6 have none.
func (s settings) fenced() bool { return s.Lock == finalLock && !s.Unfenced }

// slack is how late a process that gets its share of the processor may notice that
// a lease is over.
func (s settings) slack() moment { return max(s.Lease/5, 100*time.Millisecond) }

// longestWait is how long a lock may stay free while somebody waits: what a hold of
// unknown outcome can block, and some time for a busy machine.
func (s settings) longestWait() moment { return 2*s.Lease + 500*time.Millisecond }
