package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

var (
	errWaitOver    = errors.New("the wait is over")
	errInterrupted = failedError{interrupted.With()}
)

// What a worker says, and what the command ends with where that was bad news.
var (
	interrupted  = texts.New("interrupted")
	asksForIt    = texts.New("asks for the lock, waits up to {time}")
	gotIt        = texts.New("got it after {time}, begins to work")
	givesUp      = texts.New("gives up: has waited {time}")
	gaveUp       = texts.New("{name} waited {time}, and somebody else has the lock: use a longer --wait, or a shorter --hold")
	stoppedEarly = texts.New("is interrupted, and does not have the lock")
	cannotLock   = texts.New("cannot lock")
	wasNotLocked = texts.New("{name} cannot lock: {error}: look whether Redis still runs")
	endsWork     = texts.New("ends after {time}, unlocks")
	losesLock    = texts.New("has lost the lock after {time}, stops its work")
	lostLock     = texts.New("{name} lost the lock while it worked: look whether Redis still runs")
	stopsWork    = texts.New("is interrupted after {time}, unlocks")
	hasUnlocked  = texts.New("unlocked")
	cannotUnlock = texts.New("cannot unlock: {error}")
	notUnlocked  = texts.New("{name} cannot unlock: what is left of the lock ends with its lease of {lease}")
)

// unlockTimeout bounds an Unlock that Redis does not answer.
const unlockTimeout = 5 * time.Second

// worker is one machine of the demo: a client, a lock, and work to do.
type worker struct {
	name   string
	plan   demoPlan
	lines  *board
	rdb    *redis.Client
	locker failures.Locker

	inside       chan struct{} // closed when the worker has the lock
	began, ended time.Time     // the work; zero while it has not
}

// newWorker makes a worker that has sent nothing yet.
func newWorker(p demoPlan, name, addr string, lines *board) (*worker, error) {
	logging.Disable() // go-redis would print lines of its own among the workers'
	rdb := redis.NewClient(&redis.Options{
		Addr:                  addr,
		ContextTimeoutEnabled: true,
		MaxRetries:            -1, // a repeated SET NX would be refused by the key it has just written
		DialerRetries:         1,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	locker, err := p.stage.Subject.New(rdb, demoLock, p.lease)
	if err != nil {
		rdb.Close()
		return nil, badLease.With("time", p.lease, "error", err)
	}
	return &worker{name: name, plan: p, lines: lines, rdb: rdb, locker: locker, inside: make(chan struct{})}, nil
}

// close ends what the lock and its client have running.
func (w *worker) close() {
	if service, ok := w.locker.(io.Closer); ok {
		service.Close()
	}
	w.rdb.Close()
}

// run takes the lock, works and unlocks, and prints a line for each. Its
// errors are for the end of the command: the lines have told them already.
func (w *worker) run(ctx context.Context) error {
	// A hold of stage 6 lives in the context with which the lock was asked for, so
	// that one lasts until the work is over, and no deadline is in it.
	holding, end := context.WithCancelCause(ctx)
	defer end(nil)
	asked := w.say(asksForIt, "time", w.plan.wait)
	if err := w.lock(holding, end); err != nil {
		return err
	}
	w.began = w.say(gotIt, "time", short(time.Since(asked)))
	close(w.inside)
	worked := w.work(ctx)
	unlocked := w.unlock(ctx)
	if worked != nil {
		return worked // what went wrong first
	}
	return unlocked
}

// isInside waits until the worker has the lock. It returns false when its run is
// done before.
func (w *worker) isInside(done <-chan struct{}) bool {
	select {
	case <-w.inside:
	case <-done:
	}
	return !w.began.IsZero()
}

// lock waits for the lock, and ends ctx when the wait is over.
func (w *worker) lock(ctx context.Context, end context.CancelCauseFunc) error {
	patience := time.AfterFunc(w.plan.wait, func() { end(errWaitOver) })
	err := w.locker.Lock(ctx)
	if !patience.Stop() {
		<-ctx.Done()
	}
	if ctx.Err() == nil && err == nil {
		return nil
	}
	if err == nil { // granted at the last moment, which is too late
		if err := w.unlock(ctx); err != nil {
			return err
		}
	}
	switch {
	case context.Cause(ctx) == errWaitOver:
		w.say(givesUp, "time", w.plan.wait)
		return failedError{gaveUp.With("name", w.name, "time", w.plan.wait)}
	case ctx.Err() != nil:
		w.say(stoppedEarly)
		return errInterrupted
	}
	w.say(cannotLock)
	return failedError{wasNotLocked.With("name", w.name, "error", err)}
}

// work takes its time, unless it is interrupted or the lock tells of its loss.
func (w *worker) work(ctx context.Context) error {
	done := time.NewTimer(w.plan.hold)
	defer done.Stop()
	var ended <-chan struct{} // nil: the lock tells nothing
	var isLost func() bool
	if lock, ok := w.locker.(world.Noticing); ok {
		ended, isLost = lock.Lost(ctx)
	}
	select {
	case <-done.C:
		w.ended = w.say(endsWork, "time", short(time.Since(w.began)))
		return nil
	case <-ctx.Done():
	case <-ended: // also when ctx is done
		if isLost() {
			w.ended = w.say(losesLock, "time", short(time.Since(w.began)))
			return failedError{lostLock.With("name", w.name)}
		}
	}
	w.ended = w.say(stopsWork, "time", short(time.Since(w.began)))
	return errInterrupted
}

// unlock frees the lock, also when ctx is done.
func (w *worker) unlock(ctx context.Context) error {
	freeing, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
	defer cancel()
	err := w.locker.Unlock(freeing)
	if err == nil {
		w.say(hasUnlocked)
		return nil
	}
	w.say(cannotUnlock, "error", err)
	if w.plan.outlives() {
		return nil // the lesson, which was announced
	}
	return failedError{notUnlocked.With("name", w.name, "lease", w.plan.lease)}
}

// say prints a line of the worker's and returns its time.
func (w *worker) say(t texts.Text, pairs ...any) time.Time {
	return w.lines.say(w.name, t.In(w.lines.lang, pairs...))
}

// short is a duration without what nobody reads.
func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// board prints the lines of several workers, each with its time.
type board struct {
	mu    sync.Mutex
	out   io.Writer
	lang  texts.Language
	width int // of the names
}

func (b *board) say(name, text string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	fmt.Fprintf(b.out, "%s  %s  %s\n", now.Format(timestamp), term.Pad(name, b.width), text)
	return now
}

// timestamp is the documents' own, with milliseconds.
const timestamp = "2006-01-02 15:04:05.000"
