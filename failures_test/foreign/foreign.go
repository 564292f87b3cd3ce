// Package foreign plays the failures on a lock of any language. The lock is in a worker, a process that answers
// lines on its standard input and output, and uses an address at which the world listens: what it sends there
// goes through the world to a real Redis. docs/worker.md describes the protocol.
//
//	servers, err := live.Start(ctx, 3)
//	bench, err := foreign.New(ctx, servers, foreign.Worker{Command: []string{"python3", "worker.py"}})
//	err = bench.Play(ctx, failures.Tasks(catalogue.OfLocks()), each)
//
// worker.go is the process and its lines, lock.go a [world.Locker] that asks it, host.go the [world.Driver] of each
// process of the world, with the connections.
package foreign

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Worker is how a worker is started.
type Worker struct {
	Command []string
	Shared  bool               // one worker hosts the locks of all processes
	Stop    bool               // a pause stops the worker too (SIGSTOP), and not only its connections
	Has     []failures.Feature // what the lock has, besides what the worker says
}

// Bench plays a lock in workers. It is a [failures.Bench].
type Bench struct {
	Worker
	servers *live.Servers
	shared  *worker // with Worker.Shared
	output  *beginning
	subject failures.Subject
	use     *failures.Use

	mu      sync.Mutex
	procs   int             // that were opened in the shared worker
	says    []string        // the words of the first worker
	kinds   map[string]bool // kind of command → a call sent it in normal use
	learned bool
	started []*worker
	closed  bool
}

// How a worker is played: the lease of the first attempt, how long a worker that waits for nothing takes at most to
// send its next command, and how long disturbed failures are repeated.
const (
	lease    = 2 * time.Second
	quiet    = 5 * time.Millisecond
	patience = 6 * time.Minute
)

// New returns the bench of a worker on some servers. It starts a shared worker, which ends with Close.
func New(ctx context.Context, servers *live.Servers, w Worker) (*Bench, error) {
	servers.Lease, servers.Quiet, servers.Patience = lease, quiet, patience
	b := &Bench{Worker: w, servers: servers, output: &beginning{}, kinds: map[string]bool{}}
	b.subject = failures.Subject{Name: "worker", New: b.newLock, Has: w.Has, SkipFrames: []string{"lockkata/failures_test/foreign."}}
	if !w.Shared {
		return b, nil
	}
	var err error
	if b.shared, err = startWorker(ctx, w.Command, nil, true, b.output); err == nil {
		b.took(b.shared)
	}
	return b, err
}

// took notes a worker that has started.
func (b *Bench) took(w *worker) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.says, b.started = w.says, append(b.started, w); b.closed {
		w.process.Kill()
	}
}

// Close ends all workers, also those of runs that were left.
func (b *Bench) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, w := range b.started {
		w.process.Kill()
	}
	return nil
}

// Printed returns the first lines of the workers that are no answers.
func (b *Bench) Printed() string { return b.output.String() }

// newLock is the [world.Constructor] of the lock.
func (b *Bench) newLock(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
	isFirst := false
	h := p.Share(func() world.Driver {
		isFirst = true
		h := &host{process: p, bench: b, worker: b.shared}
		h.ctx, h.end = context.WithCancel(context.Background())
		return h
	}).(*host)
	l := &lock{host: h, wait: lease, holds: map[string][]*hold{}, isEarly: map[string]bool{}}
	if isFirst {
		if err := h.open(); err != nil {
			return nil, err
		}
	}
	ms := strconv.FormatInt(lease.Milliseconds(), 10)
	switch {
	case b.shared != nil:
		b.mu.Lock()
		b.procs++
		l.name = "p" + strconv.Itoa(b.procs)
		b.mu.Unlock()
		b.shared.hears(l.name, l.lose)
		_, waiting := b.shared.ask("open", l.name, h.address(), name, ms)
		a, lives := <-waiting
		if _, err := l.meaning("open", a, lives, false); err != nil {
			return nil, err
		}
		return l, nil
	case !isFirst:
		return nil, notCarried{noSecondLock.Args()}
	}
	w, err := startWorker(h.ctx, b.Command, []string{"LOCK_REDIS=" + h.address(), "LOCK_NAME=" + name, "LOCK_LEASE_MS=" + ms}, false, b.output)
	if err != nil {
		return nil, errEnded{err}
	}
	w.hears("", l.lose)
	h.worker = w
	b.took(w)
	return l, nil
}

// isOfCall reports whether a command of that kind belongs to a call, if one is under way. In normal use it learns
// which kinds do.
func (b *Bench) isOfCall(kind string, calling bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ofCall, known := b.kinds[kind]
	if !b.learned {
		b.kinds[kind] = ofCall || calling
		return true
	}
	return ofCall || !known
}

// Why a worker cannot be judged.
var (
	failsInUse  = i18n.New("the lock fails in normal use: {error}")
	notGiven    = i18n.New("the first caller does not get it, though it is free")
	noAnswer    = i18n.New("the worker has not answered {question}")
	alsoPrinted = i18n.New("{what}; its last line was {line}")
	sentNothing = i18n.New("it sends nothing to the address that the worker is given: does it connect to another?")
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
	var ended errEnded
	switch {
	case errors.As(err, &ended):
		return failures.Use{}, ended.error
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
	b.use = &failures.Use{Scripts: scripts, AuxKeys: aux, Locks: failures.LockKeys(tr, aux), Without: s.Without(catalogue.Everything)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learned = true
	return *b.use, nil
}

// isLearning reports whether it plays normal use: a worker that does not answer then is of no use.
func (b *Bench) isLearning() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.learned
}

// uselessIn returns why a worker cannot be judged by its normal use: it has ended, does not answer, does not give the
// free lock to its first caller, or uses another Redis.
func uselessIn(tr *trace.Trace) error {
	if tr == nil {
		return nil
	}
	var first *trace.Result // of an acquire that the lock supports
	sent := false
	for _, e := range tr.Events {
		if e.Kind == trace.Returned {
			if problem(e.Result.Err) != nil {
				return e.Result.Err
			}
			var lacks notCarried
			if first == nil && trace.IsAcquire(e.Op) && !errors.As(e.Result.Err, &lacks) {
				first = e.Result
			}
		}
		sent = sent || e.Kind == trace.Sent && !e.Background
	}
	var text unclear
	switch {
	case first == nil:
		return nil
	case errors.As(first.Err, &text):
		return first.Err
	case !sent:
		return sentNothing.Args()
	case !first.Held:
		return notGiven.Args()
	}
	return nil
}

// problem returns err if it is about the worker and not about the lock.
func problem(err error) error {
	var ended errEnded
	if errors.As(err, &ended) {
		return err
	}
	return nil
}

// Why a run decides nothing.
var (
	setsOptions  = i18n.New("over the wire: it sets options of the client library")
	endsByItself = i18n.New("over the wire: without an answer of Redis, a call ends with the timeout of the client")
	gaveUp       = i18n.New("the client gave up the command that was held: give it timeouts of at least three leases")
	notAgain     = i18n.New("the runs differ: {one}; {other}")
	whoseIsIt    = i18n.New("two calls of one process were under way: the wire does not tell whose command it was")
)

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
	if len(tasks) == 0 {
		return nil, nil
	}
	err = b.servers.Bench(b.subject).Play(ctx, tasks, func(c failures.Cell) { all = append(all, decide(c.Verdict)) })
	return all, err
}

// decide returns the verdict as far as the wire carries it.
func decide(v failures.Verdict) failures.Verdict {
	if v.Outcome == failures.NotApplicable || v.Outcome == failures.Elsewhere {
		return v
	}
	var lacks notCarried
	ends := problem(v.Err)
	isLacking := errors.As(v.Err, &lacks)
	if v.Trace != nil {
		for _, e := range v.Trace.Events {
			if e.Kind == trace.Returned {
				isLacking = isLacking || errors.As(e.Result.Err, &lacks)
				ends = cmp.Or(ends, problem(e.Result.Err))
			}
		}
	}
	switch {
	case isLacking:
		v.Outcome, v.Missing, v.Findings = failures.NotApplicable, lacks.Message, nil
	case ends != nil:
		v.Outcome, v.Missing, v.Findings = failures.NotPlayed, i18n.Text("{error}").Args("error", ends), nil
	case v.Outcome == failures.Broken && waitsForTimeout(v):
		v.Outcome, v.Missing, v.Findings = failures.NotApplicable, endsByItself.Args(), nil
	case isGivenUp(v.Trace):
		v.Outcome, v.Missing, v.Findings = failures.NotTested, gaveUp.Args(), nil
	case v.Outcome == failures.Broken && !countsCommands(v) && isShared(v.Trace):
		v.Outcome, v.Missing, v.Findings = failures.NotPlayed, whoseIsIt.Args(), nil
	}
	return v
}

// countsCommands reports whether the lock is broken by a rule that counts the commands of a process: it does not matter
// then which of its calls sent them.
func countsCommands(v failures.Verdict) bool {
	against, _ := v.Against()
	return against.Rule == oracle.Polling || against.Rule == oracle.CommandCount
}

// waitsForTimeout reports whether all that the lock did wrong is that calls without a network went on until the client
// gave up. Many clients cannot end a command before its timeout, and docs/worker.md asks for a long one.
func waitsForTimeout(v failures.Verdict) bool {
	against, _ := v.Against()
	if against.Rule != oracle.Context || v.Trace == nil {
		return false
	}
	isCut := map[string]bool{} // by process
	for _, e := range v.Trace.Events {
		var unclear unclear
		switch {
		case e.Kind == trace.Cut:
			isCut[e.Process] = true
		case e.Kind == trace.Returned && isCut[e.Process] && !errors.As(e.Result.Err, &unclear):
			return false
		}
	}
	return len(isCut) > 0
}

// isGivenUp reports whether a command during which a process was paused never had its answer.
func isGivenUp(tr *trace.Trace) bool {
	if tr == nil {
		return false
	}
	held := map[string]int{} // process → command
	open := map[int]bool{}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Frozen && e.Request > 0:
			held[e.Process] = e.Request
		case e.Kind == trace.Thawed && held[e.Process] > 0:
			open[held[e.Process]] = true
		case e.Kind == trace.Delivered || e.Kind == trace.Dropped || e.Kind == trace.Executed && e.Background:
			delete(open, e.Request)
		}
	}
	return len(open) > 0
}

// isShared reports whether a command that changed something was sent while two calls of its process were under way.
func isShared(tr *trace.Trace) bool {
	if tr == nil {
		return false
	}
	calling, doubtful := map[string]int{}, map[int]bool{}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Called && !trace.IsStore(e.Op):
			calling[e.Process]++
		case e.Kind == trace.Returned:
			calling[e.Process]--
		case e.Kind == trace.Sent && !e.Background && calling[e.Process] > 1:
			doubtful[e.Request] = true
		case e.Kind == trace.Executed && doubtful[e.Request] && len(e.Effects) > 0:
			return true
		}
	}
	return false
}
