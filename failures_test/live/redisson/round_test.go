//go:build live

package redisson_test

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"lockkata/failures_test/live/topology"
)

// round is one run of a check, with a new lock.
type round struct {
	ctx  context.Context
	end  context.CancelCauseFunc // its first cause is the failure of the check
	node *topology.Node
	a, b side
	lock string
}

// fail ends the round and the calling goroutine.
func (r *round) fail(format string, args ...any) {
	r.end(fmt.Errorf(format, args...))
	runtime.Goexit()
}

// owner is one user of the round's lock.
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

// says fails unless the owner answers each command with the value after it.
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

// waits starts a new owner that waits in the background; got receives a value when its Lock has
// returned. waits returns when the waiter has tried, subscribed and tried again. From then on only
// a message, the end of the lease, or in Go a look a third of the lease later makes it try again.
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

// woken fails if the waiter does not get the lock before it looks at it: it has missed the message.
func (r *round) woken(o owner, got chan bool) {
	select {
	case <-got:
	case <-time.After(lease / 4):
		r.fail("%s's waiter is not woken", o.side)
	}
}

// lost waits until the owner knows that it has lost the lock, at its next renewal. Its late unlock
// must not affect the next owner.
func (r *round) lost(o, next owner) {
	r.until(lease*3/2, func() bool { return r.ask(o, "isHeld") == "false" }, o.side+" does not notice that its lock is lost")
	r.says(o, "unlock", "not held")
	r.says(next, "holdCount", 1, "unlock", "ok")
}
