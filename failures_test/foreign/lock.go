package foreign

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// notCarried is the error of what a failure needs and the protocol or the worker does not have.
type notCarried struct{ i18n.Message }

// Why a failure does not apply.
var (
	noSecondLock = i18n.New("over the wire: a process with two locks needs a worker that is shared (--shared)")
	noEndedCall  = i18n.New("over the wire: a call does not begin with a context that has ended")
	noCancel     = i18n.New("over the wire: the worker does not end a call that is cancelled")
	notSupported = i18n.New("over the wire: the worker answers that it does not support {op}")
)

// timedOut is the error of a call whose deadline has passed, in the word of the worker.
type timedOut struct{}

func (timedOut) Error() string { return "timeout" }

// Unwrap returns the error that it is in Go.
func (timedOut) Unwrap() error { return context.DeadlineExceeded }

// errUseless is the error of a call of a worker that has ended, or does not answer in normal use.
type errUseless struct{ error }

// lock is the lock with one name of one process, in a worker.
type lock struct {
	host  *host
	name  string // PROC; "" if the worker is not shared
	lease time.Duration

	mu     sync.Mutex
	caller string                   // the last one
	holds  map[string]int           // of each caller
	lost   map[string]chan struct{} // of each caller: closed when it has lost what it holds
}

// lose is called when the worker says that a caller has lost the lock.
func (l *lock) lose(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lost := l.lost[caller]; lost != nil && !isClosed(lost) {
		close(lost)
	}
	l.holds[caller] = 0
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Lost implements [world.Noticing].
func (l *lock) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost[world.ClientName(ctx)], func() bool { return true }
}

// begins notes the caller of a call. All holds of a caller are lost at once.
func (l *lock) begins(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.caller = caller; l.holds[caller] == 0 || isClosed(l.lost[caller]) {
		l.lost[caller] = make(chan struct{})
	}
}

// Lock implements [world.Locker].
func (l *lock) Lock(ctx context.Context) error { return l.acquire(ctx, "lock") }

// TryLock implements [world.Locker].
func (l *lock) TryLock(ctx context.Context) (bool, error) {
	err := l.acquire(ctx, "try")
	if errors.As(err, new(isTaken)) {
		return false, nil
	}
	return err == nil, err
}

// isTaken is the answer no.
type isTaken struct{ error }

func (l *lock) acquire(ctx context.Context, op string) error {
	err := l.call(ctx, op)
	if err == nil {
		l.count(ctx, 1)
	}
	return err
}

// Unlock implements [world.Locker].
func (l *lock) Unlock(ctx context.Context) error {
	defer l.count(ctx, -1)
	return l.call(ctx, "unlock")
}

func (l *lock) count(ctx context.Context, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	caller := world.ClientName(ctx)
	l.holds[caller] = max(0, l.holds[caller]+n)
}

// Close closes the lock. It waits a lease for the answer.
func (l *lock) Close() error {
	l.mu.Lock()
	caller := l.caller
	l.mu.Unlock()
	_, waiting := l.host.worker.ask("close", l.path(caller), "0")
	select {
	case a, lives := <-waiting:
		return l.meaning("close", a, lives, false)
	case <-time.After(l.lease):
		return notCarried{notSupported.Args("op", "close")}
	case <-l.host.ctx.Done():
		return nil
	}
}

// path returns the name of a caller for the worker.
func (l *lock) path(caller string) string { return strings.TrimPrefix(l.name+"/"+caller, "/") }

// call asks the worker, and cancels the call when its context is cancelled. A deadline is the worker's own affair.
func (l *lock) call(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return notCarried{noEndedCall.Args()}
	}
	caller, patience, w, b := world.ClientName(ctx), "0", l.host.worker, l.host.bench
	var tooLate, ignored <-chan time.Time
	at, isLimited := ctx.Deadline()
	if isLimited {
		patience = strconv.FormatInt((time.Until(at) + time.Millisecond - 1).Milliseconds(), 10)
		if !b.isLearned() {
			tooLate = time.After(time.Until(at) + l.lease)
		}
	}
	l.begins(caller)
	l.host.calling.Add(1)
	defer l.host.calling.Add(-1)
	question := []string{op, l.path(caller), patience}
	id, waiting := w.ask(question...)
	done := ctx.Done()
	var told chan answer
	for {
		select {
		case a, lives := <-waiting:
			return l.meaning(op, a, lives, isLimited || ctx.Err() != nil)
		case <-l.host.ctx.Done():
			return context.Canceled
		case <-tooLate:
			defer l.host.end()
			return errUseless{w.silence(append([]string{id}, question...)...)}
		case <-done:
			if done = nil; ctx.Err() == context.Canceled {
				_, told = w.ask("cancel", id)
				ignored = time.After(l.lease)
			}
		case said := <-told:
			if told = nil; said.word == "unsupported" {
				return notCarried{noCancel.Args()}
			}
		case <-ignored:
			return notCarried{noCancel.Args()}
		}
	}
}

// meaning returns the error that an answer stands for. isOver: the time may be over, or the call was cancelled.
func (l *lock) meaning(op string, a answer, lives, isOver bool) error {
	switch {
	case !lives:
		return errUseless{l.host.worker.quote(hasEnded.Args())}
	case a.word == "timeout" && isOver:
		return timedOut{}
	case a.word == "no":
		return isTaken{errors.New("no " + a.text)}
	case a.word == "refused", a.word == "timeout":
		return errors.New(a.word + " " + a.text)
	case a.word == "unknown":
		return unclear(a.text)
	case a.word == "unsupported":
		return notCarried{notSupported.Args("op", op)}
	}
	return nil
}
