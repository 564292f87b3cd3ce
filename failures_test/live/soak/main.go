//go:build unix

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

// What a server that is killed comes back with.
const (
	durable = "durable" // all it has acknowledged
	lossy   = "lossy"   // nothing
)

// settings are what a run is asked for.
type settings struct {
	For        time.Duration
	Seed       uint64
	Lock       string
	Unfenced   bool
	Restart    string
	Workers    int
	Goroutines int
	Locks      int
	Lease      time.Duration
}

// The exit statuses.
const (
	exitOK       = 0
	exitViolated = 1
	exitBadUsage = 2
)

func main() {
	fleet.Serve(runWorker)
	s, err := parse(os.Args[1:])
	if err == flag.ErrHelp {
		os.Exit(exitOK)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		os.Exit(exitBadUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	fmt.Println(s)
	report, err := soak(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		os.Exit(exitBadUsage)
	}
	fmt.Print(report)
	if len(report.violations) > 0 {
		os.Exit(exitViolated)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.DurationVar(&s.For, "for", 60*time.Second, "how long")
	flags.Uint64Var(&s.Seed, "seed", 0, "of the faults and the work; 0: any. A seed repeats what is done, not how the processes interleave")
	flags.StringVar(&s.Lock, "lock", finalLock, "stage1 to stage6")
	flags.BoolVar(&s.Unfenced, "unfenced", false, "the ledger looks at no fencing tokens")
	flags.StringVar(&s.Restart, "restart", durable, "what a killed server comes back with: "+durable+" (all it has acknowledged) or "+lossy+" (nothing)")
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
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("there is no argument %q: all are flags", flags.Arg(0))
	case s.For <= 0 || s.Workers < 1 || s.Goroutines < 1 || s.Locks < 1:
		return s, fmt.Errorf("--for, --workers, --goroutines and --locks have to be positive")
	case s.Lease < 100*time.Millisecond:
		return s, fmt.Errorf("--lease %v is too short for processes that share a machine: use 100ms or more", s.Lease)
	case s.Restart != durable && s.Restart != lossy:
		return s, fmt.Errorf("--restart %q: choose %s or %s", s.Restart, durable, lossy)
	}
	if _, err := findLock(s.Lock); err != nil {
		return s, err
	}
	return s, nil
}

// fenced tells whether the ledger looks at tokens: the stages before 6 have none.
func (s settings) fenced() bool { return isFinal(s.Lock) && !s.Unfenced }

// String says what is about to run.
func (s settings) String() string {
	ledger := "fenced"
	if !s.fenced() {
		ledger = "plain"
	}
	return fmt.Sprintf("soak: %s, %d processes x %d goroutines, %d locks, a lease of %v, a %s ledger, %s restarts, for %v, seed %d",
		s.Lock, s.Workers, s.Goroutines, s.Locks, s.Lease, ledger, s.Restart, s.For, s.Seed)
}
