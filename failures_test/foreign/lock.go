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

// errEnded is the error of a call of a worker that has ended.
type errEnded struct{ error }

// lock is the lock with one name of one process, in a worker.
type lock struct {
	host *host
	name string // PROC; "" if the worker is not shared
	wait time.Duration

	mu      sync.Mutex
	caller  string             // the last one
	holds   map[string][]*hold // of each caller, the newest last
	isEarly map[string]bool    // a loss was told before the answer to the call was read
}

// hold ends when it is lost or freed.
type hold struct {
	ended chan struct{}
	lost  bool
}

func (h *hold) end(lost bool) {
	h.lost = lost
	close(h.ended)
}

// lose ends all holds of a caller.
func (l *lock) lose(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds[caller] {
		h.end(true)
	}
	l.isEarly[caller] = len(l.holds[caller]) == 0
	delete(l.holds, caller)
}

// Lost implements [world.Noticing].
func (l *lock) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	holds := l.holds[world.ClientName(ctx)]
	if len(holds) == 0 {
		return nil, nil
	}
	h := holds[len(holds)-1]
	return h.ended, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return h.lost
	}
}

// Lock implements [world.Locker].
func (l *lock) Lock(ctx context.Context) error {
	a, err := l.call(ctx, "lock")
	if err == nil && a.word == no {
		err = errors.New(no + " " + a.text)
	}
	return l.got(ctx, err == nil, err)
}

// TryLock implements [world.Locker].
func (l *lock) TryLock(ctx context.Context) (bool, error) {
	a, err := l.call(ctx, "try")
	held := err == nil && a.word == yes
	return held, l.got(ctx, held, err)
}

func (l *lock) got(ctx context.Context, held bool, err error) error {
	if !held {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	caller, h := world.ClientName(ctx), &hold{ended: make(chan struct{})}
	if l.isEarly[caller] {
		h.end(true)
	}
	l.holds[caller] = append(l.holds[caller], h)
	return err
}

// Unlock implements [world.Locker].
func (l *lock) Unlock(ctx context.Context) error {
	a, err := l.call(ctx, "unlock")
	if err == nil && a.word == no {
		err = errors.New(no + " " + a.text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	caller := world.ClientName(ctx)
	if holds := l.holds[caller]; len(holds) > 0 {
		h := holds[len(holds)-1]
		if l.holds[caller] = holds[:len(holds)-1]; !h.lost {
			h.end(false)
		}
	}
	return err
}

// Close closes the lock. It waits a lease for the answer.
func (l *lock) Close() error {
	l.mu.Lock()
	caller := l.caller
	l.mu.Unlock()
	if l.name != "" {
		defer l.host.worker.hears(l.name, nil)
	}
	_, waiting := l.host.worker.ask("close", l.path(caller), "0")
	select {
	case a, lives := <-waiting:
		_, err := l.meaning("close", a, lives, false)
		return err
	case <-time.After(l.wait):
		return notCarried{notSupported.Args("op", "close")}
	case <-l.host.ctx.Done():
		return nil
	}
}

// path returns the name of a caller for the worker.
func (l *lock) path(caller string) string {
	if l.name == "" {
		return caller
	}
	return l.name + "/" + caller
}

// call asks the worker, and cancels the call when its context is cancelled. A deadline is the worker's own affair.
func (l *lock) call(ctx context.Context, op string) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, notCarried{noEndedCall.Args()}
	}
	patience := int64(0)
	at, isLimited := ctx.Deadline()
	if isLimited {
		patience = max(1, (time.Until(at) + time.Millisecond - 1).Milliseconds())
	}
	caller := world.ClientName(ctx)
	l.mu.Lock()
	l.caller = caller
	l.isEarly[caller] = false
	l.mu.Unlock()
	l.host.count(1)
	defer l.host.count(-1)
	w := l.host.worker
	id, waiting := w.ask(op, l.path(caller), strconv.FormatInt(patience, 10))
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled {
			close(cancelled)
		}
	})
	defer stop()
	var silent <-chan time.Time
	if l.host.bench.isLearning() && isLimited {
		silent = time.After(time.Until(at) + l.wait)
	}
	select {
	case a, lives := <-waiting:
		return l.meaning(op, a, lives, isLimited)
	case <-l.host.ctx.Done():
		return answer{}, context.Canceled
	case <-silent:
		question := strings.Join([]string{id, op, l.path(caller), strconv.FormatInt(patience, 10)}, " ")
		err := w.quoteLine(noAnswer.Args("question", strconv.Quote(question)))
		w.process.Kill()
		return answer{}, errEnded{w.quote(err)}
	case <-cancelled:
	}
	_, told := w.ask("cancel", id)
	patient := time.NewTimer(l.wait)
	defer patient.Stop()
	for {
		select {
		case a, lives := <-waiting:
			if a.word == timeout {
				return a, context.Canceled
			}
			return l.meaning(op, a, lives, false)
		case a := <-told:
			if a.word == unsupported {
				return answer{}, notCarried{noCancel.Args()}
			}
			told = nil
		case <-patient.C:
			return answer{}, notCarried{noCancel.Args()}
		case <-l.host.ctx.Done():
			return answer{}, context.Canceled
		}
	}
}

// meaning returns the error that an answer stands for.
func (l *lock) meaning(op string, a answer, lives, isLimited bool) (answer, error) {
	switch {
	case !lives:
		return a, errEnded{l.host.worker.quote(hasEnded.Args())}
	case a.word == timeout && isLimited:
		return a, context.DeadlineExceeded
	case a.word == refused, a.word == timeout:
		return a, errors.New(a.word + " " + a.text)
	case a.word == unknown:
		return a, unclear(a.text)
	case a.word == unsupported:
		return a, notCarried{notSupported.Args("op", op)}
	}
	return a, nil
}

// count counts the calls of the process that are under way.
func (h *host) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calling += n
}
