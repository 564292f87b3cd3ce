package kata

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
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// Limits of real time. A failure is played in some milliseconds, so a lock that needs this long is
// stuck.
const (
	stuckAtFirst = 2 * time.Second
	stuckAgain   = time.Second / 2  // for a lock that was stuck before
	longestRun   = 30 * time.Second // then the remaining failures are not tried
)

// Report is the result of all tasks on a lock.
type Report struct {
	Compile  *CompileError `json:"compile_error,omitempty"`
	Cause    *judge.Cause  `json:"cause,omitempty"` // why the lock could not be judged
	Verdicts []Cell        `json:"verdicts,omitempty"`
	Found    []judge.Found `json:"found,omitempty"`   // by a search
	Differs  string        `json:"differs,omitempty"` // a schedule that the search left out
	Printed  string        `json:"printed,omitempty"` // the lock's output
	Asked    int           `json:"-"`                 // the number of failures that are to be played
}

// Cell is the verdict on a failure, and what the kata or the card adds to it.
type Cell struct {
	failures.Verdict
	Shows    []catalogue.Feature `json:"shows,omitempty"` // features that the run shows but the lock does not declare
	Required bool                `json:"required"`        // the exercise requires the lock to survive it
	Cause    *judge.Cause        `json:"cause,omitempty"` // why the run did not end, or what it left behind
	Again    string              `json:"again,omitempty"` // on a card, the outcome of the second run if it differs
}

// Verdict returns the failure's cell; it is empty if the failure was not played.
func (r Report) Verdict(failure string) Cell {
	for _, c := range r.Verdicts {
		if c.Failure.ID == failure {
			return c
		}
	}
	return Cell{}
}

// asked is what to play on a lock.
type asked struct {
	failures []string // played in this order
	required []string // those that the lock must survive
	draw     []string // failures whose trace is always returned
	has      []catalogue.Feature
	lang     i18n.Language
	played   func(n, all int) // gets the number of failures played so far; may be nil
}

// askedOf returns all failures, the required ones first.
func askedOf(required []string) asked {
	a := asked{required: required, failures: slices.Clone(required)}
	for _, f := range catalogue.OfLocks() {
		if !slices.Contains(required, f.ID) {
			a.failures = append(a.failures, f.ID)
		}
	}
	return a
}

// session plays one lock of a program, each task in another process.
type session struct {
	*Program
	atOnce  int // processes
	ctx     context.Context
	asked   asked
	task    judge.Task         // fields that are the same for all tasks
	without []failures.Verdict // on failures that do not apply to the lock
	until   time.Time          // no task begins later
	stuck   atomic.Bool
	printed string // output of the lock, from the first process in which it printed anything
}

func (p *Program) session(ctx context.Context, files Files, a asked, longest time.Duration) *session {
	lock := p.locks[files.key()]
	return &session{
		Program: p, atOnce: 2, ctx: ctx, asked: a, until: time.Now().Add(longest),
		task: judge.Task{Lock: lock.name, Path: lock.code, SkipFrames: lock.frames, Has: a.has, Lang: a.lang},
	}
}

// all runs tasks and returns their replies. A reply is empty if time is up or the machine fails.
func (s *session) all(tasks []judge.Task, done func(n, all int)) []judge.Reply {
	replies, printed := make([]judge.Reply, len(tasks)), make([]string, len(tasks))
	slots := make(chan struct{}, s.atOnce)
	var doing sync.WaitGroup
	var ended atomic.Int64
	for i := range tasks {
		slots <- struct{}{}
		doing.Go(func() {
			defer func() { <-slots }()
			if s.ctx.Err() == nil && time.Now().Before(s.until) {
				replies[i], printed[i] = s.one(tasks[i])
			}
			if done != nil {
				done(int(ended.Add(1)), len(tasks))
			}
		})
	}
	doing.Wait()
	s.printed = cmp.Or(append([]string{s.printed}, printed...)...)
	return replies
}

// one runs a task. It also returns the lock's output.
func (s *session) one(task judge.Task) (reply judge.Reply, printed string) {
	task.Limit = stuckAtFirst
	if s.stuck.Load() {
		task.Limit = stuckAgain
	}
	raw, err := json.Marshal(task)
	if err != nil {
		panic("kata: a task is always JSON: " + err.Error())
	}
	longest := 2*task.Limit + 4*time.Second
	if task.Search != nil {
		longest += 2 * task.Search.For
	}
	ctx, cancel := context.WithTimeout(s.ctx, longest)
	defer cancel()
	out := filepath.Join(s.dir, fmt.Sprintf("reply%d.json", s.started.Add(1)))
	cmd := exec.CommandContext(ctx, s.file, append(slices.Clip(s.args), string(raw), out)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // an interrupted search of ours replies what it knows
	cmd.WaitDelay = time.Second
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	var stdout, stderr beginning
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	raw, err = os.ReadFile(out)
	switch {
	case err == nil && json.Unmarshal(raw, &reply) == nil:
	case s.ctx.Err() != nil:
		return judge.Reply{}, ""
	default:
		reply = judge.Reply{Cause: s.endedBadly(ended, stderr.String(), ctx.Err() != nil)}
	}
	if reply.Cause != nil && !reply.Cause.IsLeft() {
		s.stuck.Store(true)
	}
	return reply, stdout.String()
}

// Judge plays a lock of the program. A lock that loops or panics is not an error.
func (p *Program) Judge(ctx context.Context, files Files, a asked) (r Report, err error) {
	s := p.session(ctx, files, a, longestRun)
	shared := s.task
	shared.Shared = true
	replies := s.all([]judge.Task{s.task, shared}, nil)
	first := replies[0]
	s.task.Uses, s.without = first.Uses, first.Without
	if !first.Cause.IsLeft() {
		r.Cause = first.Cause
	}
	if c := replies[1].Cause; c != nil && c.Kind == judge.Shares {
		r.Cause, r.Printed = c, s.printed
		return r, ctx.Err()
	}
	var basic, rest []string
	for _, id := range a.failures {
		switch f, _ := catalogue.Find(id); {
		case a.required == nil && !isFor(f, first):
		case f.Basic:
			basic = append(basic, id)
		default:
			rest = append(rest, id)
		}
	}
	r.Asked = len(basic) + len(rest)
	if s.play(&r, basic, nil); r.Cause == nil && !breakBasic(r.Verdicts, a.required) {
		s.play(&r, rest, a.played)
	}
	slices.SortStableFunc(r.Verdicts, func(a, b Cell) int {
		return slices.Index(s.asked.failures, a.Failure.ID) - slices.Index(s.asked.failures, b.Failure.ID)
	})
	r.Printed = s.printed
	return r, ctx.Err()
}

// isFor reports whether a failure is one of those for locks on as many servers.
func isFor(f catalogue.Failure, first judge.Reply) bool {
	switch f.Family {
	case catalogue.RedLock:
		return first.Several
	case catalogue.Replication:
		return first.Uses.Waits
	}
	return !first.Several
}

// breakBasic reports whether a basic failure breaks the lock: a required one, if some are required.
func breakBasic(all []Cell, required []string) bool {
	return slices.ContainsFunc(all, func(c Cell) bool { return c.breaksBasic() && (c.Required || required == nil) })
}

// breaksBasic reports whether a basic failure could not be played, or breaks one of its own rules.
func (c Cell) breaksBasic() bool {
	against, _ := c.Against()
	return c.Failure.Basic && (c.Outcome == failures.NotPlayed || slices.Contains(c.Failure.Breaks, against.Rule))
}

// play plays those of the failures that apply to the lock.
func (s *session) play(r *Report, ids []string, played func(n, all int)) {
	var tasks []judge.Task
	for _, id := range ids {
		if at := slices.IndexFunc(s.without, func(v failures.Verdict) bool { return v.Failure.ID == id }); at >= 0 {
			r.Verdicts = append(r.Verdicts, Cell{Verdict: s.without[at], Required: slices.Contains(s.asked.required, id)})
			continue
		}
		task := s.task
		task.Failure, task.Draw = id, slices.Contains(s.asked.draw, id)
		tasks = append(tasks, task)
	}
	for i, reply := range s.all(tasks, played) {
		id := tasks[i].Failure
		cell := Cell{Required: slices.Contains(s.asked.required, id), Cause: reply.Cause, Shows: reply.Shows}
		switch {
		case reply.Verdict != nil:
			cell.Verdict = *reply.Verdict
		case reply.Cause != nil:
			f, _ := catalogue.Find(id)
			cell.Verdict = failures.Verdict{Failure: f, Outcome: failures.NotPlayed, Missing: reply.Cause.Text}.In(s.asked.lang)
		default: // time is up
			continue
		}
		r.Verdicts = append(r.Verdicts, cell)
	}
}

// search answers questions about the lock, with at most that many schedules each; 0: no limit.
func (p *Program) search(ctx context.Context, files Files, a asked, questions []schedule.Question, most int) (r Report, err error) {
	s := p.session(ctx, files, a, time.Duration(len(questions))*time.Minute) // each search has its own limit
	s.task.Uses = s.all([]judge.Task{s.task}, nil)[0].Uses
	var tasks []judge.Task
	for _, q := range questions {
		task := s.task
		task.Search = &judge.Search{Name: schedule.ForeignName("mylock", files.key()), Question: q, Attempts: 1, Runs: most, For: searchLimit, SkipUnstable: true}
		tasks = append(tasks, task)
	}
	for _, reply := range s.all(tasks, nil) {
		r.Found = append(r.Found, reply.Found...)
		r.Differs = cmp.Or(r.Differs, reply.Differs)
		r.Cause = cmp.Or(r.Cause, reply.Cause)
	}
	r.Printed = s.printed
	return r, ctx.Err()
}
