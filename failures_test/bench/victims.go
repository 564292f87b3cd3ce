package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// A victim is the process that is woken first, killed or stopped just then.
const (
	// victimLease is short: a victim that was served is the holder, and the others
	// have to wait for the end of its lease.
	victimLease = time.Second
	// nextWithin is how long the next one may take.
	nextWithin = 150 * time.Millisecond
	// unservedAfter is when nobody can have an excuse any more.
	unservedAfter = 5 * victimLease
)

// fate is what became of the rounds with one kind of signal.
type fate struct {
	next     []float64 // milliseconds from the unlock to the next lock
	served   int       // rounds in which the victim had got the lock before
	unserved int       // processes that never got the lock
}

func measureVictims(ctx context.Context, times int) ([]row, error) {
	killed, err := victims(ctx, times, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	stopped, err := victims(ctx, times, syscall.SIGSTOP)
	if err != nil {
		return nil, err
	}
	return []row{fateRow("the chosen one killed", killed), fateRow("the chosen one stopped", stopped)}, nil
}

func fateRow(what string, f fate) row {
	worst := 0.0
	if len(f.next) > 0 {
		worst = slices.Max(f.next)
	}
	return row{
		What: what + ": the next one holds after ms (p50, worst); unserved",
		Ours: fmt.Sprintf("%.0f, %.0f; %d", median(f.next), worst, f.unserved),
		Beside: fmt.Sprintf("%d rounds; in %d others it held the lock already: its lease has to end",
			len(f.next), f.served),
		Target:  fmt.Sprintf("<= %d, 0", nextWithin.Milliseconds()),
		Verdict: verdictOf(len(f.next) > 0 && worst <= float64(nextWithin.Milliseconds()) && f.unserved == 0),
	}
}

func victims(ctx context.Context, times int, signal syscall.Signal) (fate, error) {
	var f fate
	for range times {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		_, err := onServer(ctx, func(s *server) ([]row, error) { return nil, f.round(ctx, s, signal) })
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// round lets four processes wait in a known order, gives the lock away, and sends
// the signal to the first of them at some moment around it.
func (f *fate) round(ctx context.Context, s *server, signal syscall.Signal) error {
	const name = "victims"
	set := settings{Addr: s.addr(), Lease: victimLease}
	holder, _, err := open(directedKind, set)
	if err != nil {
		return err
	}
	defer holder.close()
	h, err := holder.lock(ctx, name)
	if err != nil {
		return err
	}
	workers, err := startWorkers(4, directedKind, set)
	if err != nil {
		return err
	}
	defer endWorkers(workers)
	for _, w := range workers {
		before, err := s.counts(ctx)
		if err != nil {
			return err
		}
		if err := w.tell(order{Do: turnOrder, Name: name}); err != nil {
			return err
		}
		if err := s.quiet(ctx, before, 1); err != nil {
			return err
		}
	}
	tokens := watchTokens(ctx, s, "lock:{"+name+"}:token")
	called := now()
	moment := time.Duration(rand.N(2*time.Millisecond)) - 500*time.Microsecond
	struck := make(chan error, 1)
	strike := func() { struck <- workers[0].cmd.Process.Signal(signal) }
	if moment < 0 {
		strike()
		time.Sleep(-moment)
		called = now()
	} else {
		time.AfterFunc(moment, strike)
	}
	if err := errors.Join(h.unlock(), <-struck); err != nil {
		return err
	}
	others, unserved := hearWithin(workers[1:], unservedAfter)
	seen := tokens()
	if signal == syscall.SIGSTOP { // it goes on, and is served as well
		if err := workers[0].cmd.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		_, more := hearWithin(workers[:1], unservedAfter)
		unserved += more
	}
	f.unserved += unserved
	if len(others) == 0 {
		return nil
	}
	if grantedToSomebodyElse(seen, h.token, others) {
		f.served++
		return nil
	}
	f.next = append(f.next, milliseconds(between(called, others)[:1])...)
	return nil
}

// grantedToSomebodyElse tells whether a token was given out that none of these
// turns had.
func grantedToSomebodyElse(seen []int64, first int64, turns []turn) bool {
	return slices.ContainsFunc(seen, func(token int64) bool {
		return token != first && !slices.ContainsFunc(turns, func(t turn) bool { return t.Token == token })
	})
}

// hearWithin hears what workers answer until then, and how many do not: an error
// is an answer too, of one who was served and has lost the lock.
func hearWithin(workers []*worker, within time.Duration) (turns []turn, silent int) {
	heard := make(chan []turn, len(workers))
	for _, w := range workers {
		go func() {
			a, _ := w.hear() // ends with the process at the latest
			heard <- a.Turns
		}()
	}
	timeout := time.After(within)
	for range workers {
		select {
		case t := <-heard:
			if len(t) > 0 && t[0].Locked > 0 {
				turns = append(turns, t...)
			} else {
				silent++
			}
		case <-timeout:
			return turns, len(workers) - len(turns)
		}
	}
	return turns, silent
}

// watchTokens collects the fencing tokens that are given out until the function it
// returns is called.
func watchTokens(ctx context.Context, s *server, key string) func() []int64 {
	ctx, stop := context.WithCancel(ctx)
	seen := make(chan []int64, 1)
	go func() {
		var tokens []int64
		for ctx.Err() == nil {
			token, err := s.rdb.Get(ctx, key).Int64()
			if err == nil && !slices.Contains(tokens, token) {
				tokens = append(tokens, token)
			}
			time.Sleep(500 * time.Microsecond)
		}
		seen <- tokens
	}()
	return func() []int64 {
		stop()
		return <-seen
	}
}
