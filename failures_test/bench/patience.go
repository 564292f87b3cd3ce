package main

import (
	"context"
	"errors"
	"time"
)

// patience is after how long a waiter asks anew. It is far longer than any wait
// here should be: a library that has lost a wake-up shows it in its longest waits,
// and does not end the run.
const patience = 3 * time.Second

// patiently locks, and asks anew whenever patience is over. The context has no
// deadline, since some libraries shorten the lease to that.
func patiently(ctx context.Context, l *locker, name string) (held, error) {
	return patientlyNoticed(ctx, l, name, func() {})
}

// patientlyNoticed calls waits whenever the library asks for the end of the
// context, as it does when it begins to wait.
func patientlyNoticed(ctx context.Context, l *locker, name string, waits func()) (held, error) {
	for {
		try, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(patience, cancel)
		h, err := l.lock(noticing{try, waits}, name)
		if err == nil && timer.Stop() {
			unlock := h.unlock
			h.unlock = func() error {
				defer cancel() // not before: a lock may end with its context
				return unlock()
			}
			return h, nil
		}
		cancel()
		if err == nil { // in the last moment
			err = h.unlock()
		}
		if err != nil && !errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return held{}, errors.Join(err, ctx.Err())
		}
	}
}

// noticing is a context that tells when somebody wants to wait for its end.
type noticing struct {
	context.Context
	waits func()
}

// Done tells.
func (n noticing) Done() <-chan struct{} {
	n.waits()
	return n.Context.Done()
}
