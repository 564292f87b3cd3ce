//go:build live

package redisson_test

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"lockkata/failures_test/live/topology"
)

// round is one run of a check on a lock of its own.
type round struct {
	ctx  context.Context
	end  context.CancelCauseFunc // its first cause is why the check fails
	node *topology.Node
	a, b side
	lock string
}

// fail ends the round, and the goroutine that found out.
func (r *round) fail(format string, args ...any) {
	r.end(fmt.Errorf(format, args...))
	runtime.Goexit()
}

// owner is somebody who uses the round's lock.
type owner struct {
	side    string
	execute execute
}

func (r *round) owner(s side) owner {
	execute, err := s.owner(r.lock)
	if err != nil {
		r.fail("%w", err)
	}
	return owner{s.name, execute}
}

func (r *round) ask(o owner, command string) string {
	answer, err := o.execute(r.ctx, command)
	if err != nil {
		r.fail("%s's %s: %w", o.side, command, err)
	}
	return answer
}

// says fails unless the owner answers each command as it should: the answers stand
// behind the commands.
func (r *round) says(o owner, dialogue ...any) {
	for i := 0; i < len(dialogue); i += 2 {
		command, want := dialogue[i].(string), fmt.Sprint(dialogue[i+1])
		if got := r.ask(o, command); got != want {
			r.fail("%s's %s says %s, not %s", o.side, command, got, want)
		}
	}
}

func (r *round) until(limit time.Duration, isSo func() bool, otherwise string) {
	for end := time.Now().Add(limit); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.fail("%s", otherwise)
		}
	}
}

// waits has a new owner wait in the background: got is when its Lock has returned. It
// returns when the waiter has been refused, listens, and has been refused once more:
// from then on only a message, or the end of the lease, makes it try again.
func (r *round) waits(s side) (o owner, got chan bool) {
	tries := func() int { return r.node.Count("cmdstat_eval:calls=", "cmdstat_evalsha:calls=") }
	listens := func() int { return r.node.Count("cmdstat_subscribe:calls=", "cmdstat_ssubscribe:calls=") }
	tried, listened := tries(), listens()
	o, got = r.owner(s), make(chan bool, 1)
	go func() {
		r.says(o, "lock", "ok")
		got <- true
	}()
	r.until(5*lease, func() bool { return tries() >= tried+2 && listens() > listened }, s.name+" does not try, subscribe and try again")
	return o, got
}

// woken waits until a waiter has the lock: without a message it would sleep until the
// lease is over.
func (r *round) woken(o owner, got chan bool) {
	select {
	case <-got:
	case <-time.After(lease * 3 / 4):
		r.fail("%s's waiter is not woken", o.side)
	}
}

// lost waits until the owner knows that its lock is another's: at its next renewal.
// Its late unlock does the next owner no harm.
func (r *round) lost(o, next owner) {
	r.until(lease*3/2, func() bool { return r.ask(o, "isHeld") == "false" }, o.side+" does not notice that its lock is lost")
	r.says(o, "unlock", "not held")
	r.says(next, "holdCount", 1, "unlock", "ok")
}
