package apart

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/judge"
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
)

// atOnce is how many processes play a lock.
const atOnce = 2

// How many runs of a lock may not end, by its own fault and by that of the machine. Then Play leaves out the
// remaining tasks.
const (
	mostStuck = 40
	mostCut   = 4
)

// grace is how long a process may take to say why its run does not end, and to end.
const grace = 10 * time.Second

// Bench plays one lock of a program. It is a [schedule.Searcher].
type Bench struct {
	Lang i18n.Language // of the texts in replies

	program *Program
	lock    *compiledLock
	use     *failures.Use
	stuck   atomic.Int64 // runs that did not end
	cut     atomic.Int64 // runs that the clock has ended
	mu      sync.Mutex
	printed string // see Printed
}

// Bench returns the bench of a lock with which the program was built.
func (p *Program) Bench(l Lock) *Bench {
	return &Bench{Lang: i18n.English, program: p, lock: p.locks[l.key()]}
}

// Close deletes the program, with all its locks.
func (b *Bench) Close() error {
	b.program.Close()
	return nil
}

// Printed returns what the lock has printed, in the first process in which it printed anything.
func (b *Bench) Printed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.printed
}

// Learn implements [failures.Bench]. A lock that fails in normal use is not an error.
func (b *Bench) Learn(ctx context.Context) (failures.Use, error) {
	if b.use == nil {
		replies := make([]judge.Reply, 2)
		b.all(ctx, []judge.Task{{}, {Shared: true}}, func(i int, r judge.Reply) { replies[i] = r })
		if ctx.Err() != nil {
			return failures.Use{}, ctx.Err()
		}
		use := replies[0].Use
		use.Cause = cmp.Or(replies[0].Cause, use.Cause)
		if shared := replies[1].Cause; shared != nil && shared.Kind == guard.Shares {
			use.Cause = shared
		}
		b.use = &use
	}
	return *b.use, nil
}

// Play implements [failures.Bench]. It leaves out tasks once too many runs have not ended.
func (b *Bench) Play(ctx context.Context, tasks []failures.Task, each func(failures.Cell)) error {
	use, err := b.Learn(ctx)
	if err != nil {
		return err
	}
	var ask []judge.Task
	for _, task := range tasks {
		if at := slices.IndexFunc(use.Without, func(v failures.Verdict) bool { return v.Failure.ID == task.Failure.ID }); at >= 0 {
			each(failures.Cell{Verdict: use.Without[at]})
			continue
		}
		ask = append(ask, judge.Task{Failure: task.Failure.ID, Draw: task.Draw})
	}
	b.all(ctx, ask, func(i int, r judge.Reply) {
		if r.Cell == nil {
			f, _ := catalogue.Find(ask[i].Failure)
			r.Cell = &failures.Cell{Verdict: failures.Verdict{Failure: f, Outcome: failures.NotPlayed, Missing: r.Cause.Text}.In(b.Lang), Cause: r.Cause}
		}
		each(*r.Cell)
	})
	return ctx.Err()
}

// Search implements [schedule.Searcher].
func (b *Bench) Search(ctx context.Context, all []schedule.Inquiry) ([]schedule.Reply, error) {
	if _, err := b.Learn(ctx); err != nil {
		return nil, err
	}
	ask := make([]judge.Task, len(all))
	for i, q := range all {
		q.Name, q.Lang = schedule.ForeignName("mylock", b.lock.key), b.Lang
		ask[i].Search = &q
	}
	replies := make([]schedule.Reply, len(all))
	b.all(ctx, ask, func(i int, r judge.Reply) {
		replies[i] = r.Searched
		replies[i].Cause = cmp.Or(r.Cause, r.Searched.Cause)
	})
	return replies, ctx.Err()
}

// all does tasks and passes each reply to done, one at a time.
func (b *Bench) all(ctx context.Context, tasks []judge.Task, done func(int, judge.Reply)) {
	slots := make(chan struct{}, atOnce)
	var doing sync.WaitGroup
	var one sync.Mutex
	for i, task := range tasks {
		slots <- struct{}{}
		doing.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil || b.stuck.Load() >= mostStuck || b.cut.Load() >= mostCut {
				return
			}
			if reply, played := b.one(ctx, task); played {
				one.Lock()
				defer one.Unlock()
				done(i, reply)
			}
		})
	}
	doing.Wait()
}

// one does a task in a process of its own. It returns false if the context has ended.
func (b *Bench) one(ctx context.Context, task judge.Task) (reply judge.Reply, played bool) {
	p := b.program
	task.Reply = filepath.Join(p.dir, fmt.Sprintf("reply%d.json", p.started.Add(1)))
	task.Path, task.Lang, task.Limit = b.lock.code, b.Lang, guard.Processor
	if b.use != nil {
		task.Use = failures.Use{Scripts: b.use.Scripts, AuxKeys: b.use.AuxKeys, Waits: b.use.Waits}
	}
	if b.stuck.Load() > 0 {
		task.Limit = guard.Again
	}
	raw, err := json.Marshal(task)
	if err != nil {
		panic("apart: a task is always JSON: " + err.Error())
	}
	longest := guard.Wall + grace
	if task.Search != nil {
		longest += 2 * task.Search.For
	}
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(limited, p.file, "-test.run=^"+b.lock.test+"$")
	cmd.WaitDelay = time.Second
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all", judge.Variable+"="+string(raw))
	var stdout, stderr beginning
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	raw, err = os.ReadFile(task.Reply)
	switch {
	case err == nil && json.Unmarshal(raw, &reply) == nil:
	case ctx.Err() != nil:
		return reply, false
	default:
		used := time.Duration(0)
		if s := cmd.ProcessState; s != nil {
			used = s.UserTime() + s.SystemTime()
		}
		reply = judge.Reply{Cause: p.endedBadly(ended, stderr.String(), limited.Err() != nil, used)}
	}
	b.note(reply, stdout.String())
	return reply, true
}

// note counts runs that did not end, and keeps what the lock printed.
func (b *Bench) note(r judge.Reply, printed string) {
	cause := cmp.Or(r.Cause, r.Searched.Cause)
	if r.Cell != nil {
		cause = r.Cell.Cause
	}
	switch {
	case cause == nil || cause.IsLeft():
	case cause.Kind == guard.TimeUp:
		b.cut.Add(1)
	default:
		b.stuck.Add(1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.printed = cmp.Or(b.printed, printed)
}
