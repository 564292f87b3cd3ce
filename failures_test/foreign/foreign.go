// Package foreign plays the failures on a lock of any language. The lock is in a worker, a process that answers
// lines on its standard input and output, and uses an address at which the world listens: what it sends there
// goes through the world to a real Redis. docs/worker.md describes the protocol.
//
//	servers, err := live.Start(ctx, 3)
//	bench, err := foreign.New(ctx, servers, foreign.Worker{Command: []string{"python3", "worker.py"}})
//	err = bench.Play(ctx, failures.Tasks(catalogue.OfLocks()), each)
//
// worker.go is the process and its lines, lock.go a [world.Locker] that asks it, host.go the [world.Driver] of each
// process of the world, with the connections. decide.go finds the runs that decide nothing.
package foreign

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Worker is how a worker is started.
type Worker struct {
	Command []string
	Shared  bool               // one worker hosts the locks of all processes
	Stop    bool               // a pause stops the worker too (SIGSTOP), and not only its connections
	Has     []failures.Feature // features of the lock, in addition to those that the worker names
}

// Bench plays a lock in workers. It is a [failures.Bench].
type Bench struct {
	Worker
	servers *live.Servers
	shared  *worker         // with Worker.Shared
	ctx     context.Context // of all workers
	end     context.CancelFunc
	output  excerpt
	subject failures.Subject
	use     *failures.Use

	mu    sync.Mutex
	procs int             // that were opened in the shared worker
	says  []string        // the words of the workers
	kinds map[string]bool // kind of command → a call sent it in normal use
}

// How a worker is played: see the fields of [live.Servers].
const (
	lease    = 2 * time.Second
	quiet    = 5 * time.Millisecond
	patience = 6 * time.Minute
)

// New returns the bench of a worker on some servers. It starts a shared worker. All workers end with Close or ctx.
func New(ctx context.Context, servers *live.Servers, w Worker) (*Bench, error) {
	servers.Lease, servers.Quiet, servers.Patience = lease, quiet, patience
	b := &Bench{Worker: w, servers: servers, kinds: map[string]bool{}}
	b.ctx, b.end = context.WithCancel(ctx)
	b.subject = failures.Subject{Name: "worker", New: b.newLock, Has: w.Has, SkipFrames: []string{"lockkata/failures_test/foreign."}}
	if !w.Shared {
		return b, nil
	}
	var err error
	if b.shared, err = startWorker(b.ctx, w.Command, nil, true, &b.output); err != nil {
		return nil, err
	}
	b.says = b.shared.says
	return b, nil
}

// Close ends all workers, also those of runs that were left.
func (b *Bench) Close() error {
	b.end()
	if b.shared != nil {
		<-b.shared.process.Ended()
	}
	return nil
}

// Printed returns the first and the last lines of the workers that are no answers.
func (b *Bench) Printed() string { return b.output.String() }

// newLock is the [world.Constructor] of the lock.
func (b *Bench) newLock(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
	isFirst := false
	h := p.Share(func() world.Driver {
		isFirst = true
		h := &host{process: p, bench: b, worker: b.shared}
		h.ctx, h.end = context.WithCancel(b.ctx)
		return h
	}).(*host)
	l := &lock{host: h, lease: lease, holds: map[string]int{}, lost: map[string]chan struct{}{}}
	if isFirst {
		if err := h.open(); err != nil {
			return nil, err
		}
	} else if b.shared == nil {
		return nil, notCarried{noSecondLock.Args()}
	}
	at, ms := h.listener.Addr().String(), strconv.FormatInt(lease.Milliseconds(), 10)
	if b.shared != nil {
		b.mu.Lock()
		b.procs++
		l.name = "p" + strconv.Itoa(b.procs)
		b.mu.Unlock()
		b.shared.hears(l)
		_, waiting := b.shared.ask("open", l.name, at, name, ms)
		a, lives := <-waiting
		return l, l.meaning("open", a, lives, false)
	}
	var err error
	if h.worker, err = startWorker(h.ctx, b.Command, []string{"LOCK_REDIS=" + at, "LOCK_NAME=" + name, "LOCK_LEASE_MS=" + ms}, false, &b.output); err != nil {
		return nil, errUseless{err}
	}
	h.worker.hears(l)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.says = h.worker.says
	return l, nil
}

// isOfCall reports whether a command of that kind belongs to a call, if one is under way. In normal use it learns
// which kinds do.
func (b *Bench) isOfCall(kind string, calling bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ofCall, known := b.kinds[kind]
	if b.use == nil {
		b.kinds[kind] = ofCall || calling
		return true
	}
	return ofCall || !known
}

func (b *Bench) isLearned() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.use != nil
}

// Why a lock cannot be judged.
var (
	failsInUse  = i18n.New("the lock fails in normal use: {error}")
	failsWith   = i18n.New("{op}: {error}")
	isNotGiven  = i18n.New("the first caller does not get it, though it is free")
	sentNothing = i18n.New("the worker has sent nothing to the address in LOCK_REDIS: it has to connect to that, and to no other")
)

// Learn implements [failures.Bench].
func (b *Bench) Learn(context.Context) (failures.Use, error) {
	if b.use != nil {
		return *b.use, nil
	}
	tr, scripts, err := b.servers.NormalUse(b.subject)
	if err == nil {
		err = uselessIn(tr)
	}
	var useless errUseless
	switch {
	case find(tr, err, &useless):
		return failures.Use{}, useless.error
	case err != nil:
		return failures.Use{}, failsInUse.Args("error", err)
	}
	s := b.subject
	s.Scripts = scripts
	if len(scripts) > 0 {
		s = s.With(failures.Scripts)
	}
	for _, word := range b.says {
		s = s.With(failures.Feature(word))
	}
	aux := failures.AuxKeys(tr)
	b.subject = s.Ignoring(aux)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.use = &failures.Use{Scripts: scripts, AuxKeys: aux, Locks: failures.LockKeys(tr, aux), Without: s.Without(catalogue.Everything)}
	return *b.use, nil
}

// uselessIn returns why a lock cannot be judged by its normal use: its first Lock or Unlock fails, or it uses another
// Redis.
func uselessIn(tr *trace.Trace) error {
	seen := map[string]bool{}
	var failed error
	for _, e := range tr.Events {
		if e.Kind == trace.Sent {
			seen[""] = true
		}
		if e.Kind != trace.Returned || seen[e.Op] || failed != nil {
			continue
		}
		seen[e.Op] = true
		var text unclear
		switch isPlain := e.Op == trace.OpLock || e.Op == trace.OpUnlock; {
		case isPlain && errors.As(e.Result.Err, &text):
			failed = failsWith.Args("op", e.Op, "error", text)
		case e.Op == trace.OpLock && !e.Result.Held && !errors.As(e.Result.Err, new(notCarried)):
			failed = isNotGiven.Args()
		}
	}
	if failed == nil && !seen[""] {
		return errUseless{sentNothing.Args()}
	}
	return failed
}

// find finds an error of a type: that of a run, or one that a call in it has returned.
func find[E error](tr *trace.Trace, err error, target *E) bool {
	if errors.As(err, target) {
		return true
	}
	return tr != nil && slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind == trace.Returned && errors.As(e.Result.Err, target) })
}

// Play implements [failures.Bench]. A failure that breaks the lock is played again: the lock is broken if the same rule is
// broken twice.
func (b *Bench) Play(ctx context.Context, tasks []failures.Task, each func(failures.Cell)) error {
	if _, err := b.Learn(ctx); err != nil {
		return err
	}
	var ask []failures.Task
	for _, task := range tasks {
		if v := (failures.Verdict{Failure: task.Failure, Subject: b.subject.Name, Outcome: failures.NotApplicable}); task.Failure.Client.Retries+task.Failure.Client.PoolSize > 0 {
			v.Missing = setsOptions.Args()
			each(failures.Cell{Verdict: v})
		} else {
			ask = append(ask, task)
		}
	}
	runs := map[string][]failures.Verdict{}
	for again := ask; len(again) > 0; {
		played, err := b.once(ctx, again)
		if err != nil {
			return err
		}
		again = nil
		for _, v := range played {
			all := append(runs[v.Failure.ID], v)
			runs[v.Failure.ID] = all
			if _, decided := agreed(all); !decided && len(all) < mostRuns {
				again = append(again, failures.Task{Failure: v.Failure})
			}
		}
	}
	for _, task := range ask {
		v, decided := agreed(runs[task.Failure.ID])
		if !decided {
			first, last := runs[task.Failure.ID][0], v
			v.Outcome, v.Missing = failures.Elsewhere, notAgain.Args("one", first.Sentence(), "other", last.Sentence())
		}
		each(failures.Cell{Verdict: v, Shows: b.subject.Shows(cmp.Or(v.Trace, &trace.Trace{}))})
	}
	return nil
}

// mostRuns is how often a failure is played that breaks the lock in some runs.
const mostRuns = 3

// agreed returns the verdict on which the runs of a failure agree: the first run, unless it breaks the lock; else any
// two. Without one it returns the last.
func agreed(runs []failures.Verdict) (v failures.Verdict, decided bool) {
	last := runs[len(runs)-1]
	if len(runs) == 1 {
		return last, last.Outcome != failures.Broken
	}
	against, _ := last.Against()
	for _, v := range runs[:len(runs)-1] {
		before, _ := v.Against()
		if v.Outcome == last.Outcome && (v.Outcome != failures.Broken || before.Rule == against.Rule) {
			return v, true
		}
	}
	return last, false
}

// once plays each task once.
func (b *Bench) once(ctx context.Context, tasks []failures.Task) (all []failures.Verdict, err error) {
	err = b.servers.Bench(b.subject).Play(ctx, tasks, func(c failures.Cell) { all = append(all, decide(c.Verdict)) })
	return all, err
}
