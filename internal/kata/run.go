package kata

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
	"lockkata/internal/locktest"
)

// How long a lock may take. A failure is played in some milliseconds, so a lock that needs these
// is stuck.
const (
	stuckAtFirst = 2 * time.Second
	stuckAgain   = time.Second / 2  // for a lock that was stuck once
	longestRun   = 30 * time.Second // then what is left is not tried
)

// Report is what came of a lock.
type Report struct {
	Compile  *CompileError  `json:"compile_error,omitempty"`
	Cause    *judge.Cause   `json:"cause,omitempty"`  // why it could not be judged
	Broken   []judge.Broken `json:"broken,omitempty"` // promises that it does not keep
	Verdicts []Verdict      `json:"verdicts,omitempty"`
	Found    []judge.Found  `json:"found,omitempty"`   // by a search
	Differs  string         `json:"differs,omitempty"` // a schedule that a search left out
	Printed  string         `json:"printed,omitempty"` // what the lock wrote to its standard output
}

// Verdict is what a failure did to the lock, and whether the lock has to survive it.
type Verdict struct {
	judge.Verdict
	Required bool         `json:"required"`
	Cause    *judge.Cause `json:"cause,omitempty"` // why it was not played to its end, or what it left behind
}

// Of returns the outcome.
func (v Verdict) Of() failures.Outcome { return failures.Outcome(v.Letter[0]) }

// Verdict returns the verdict on the failure; it is empty if that was not played.
func (r Report) Verdict(failure string) Verdict {
	for _, v := range r.Verdicts {
		if v.Failure == failure {
			return v
		}
	}
	return Verdict{}
}

// asked is what a lock is judged by.
type asked struct {
	failures []string // played in this order
	required []string // those that the lock has to survive
	promises []string // beyond the basic ones
	draw     []string // failures whose trace is always wanted
	has      []failures.Feature
	lang     i18n.Language
	goOn     bool             // also where a basic promise is broken
	played   func(n, all int) // is told how many failures have been played; may be nil
}

// session plays one lock of a program, each task in a process of its own, two at once.
type session struct {
	*Program
	ctx     context.Context
	asked   asked
	task    judge.Task      // what all tasks have in common
	without []judge.Verdict // on failures that need not be played
	begun   time.Time
	stuck   atomic.Bool
	started atomic.Int64
	dir     string

	printed string // by the lock, in the first process in which it printed anything

	mu   sync.Mutex
	errs []error
}

func (p *Program) session(ctx context.Context, files Files, a asked) (*session, error) {
	dir, err := os.MkdirTemp(p.dir, "run-")
	return &session{
		Program: p, ctx: ctx, asked: a, begun: time.Now(), dir: dir,
		task: judge.Task{Lock: p.names[files.key()], Path: p.pathOf(p.names[files.key()]), Has: a.has, Lang: a.lang},
	}, err
}

// all does tasks and returns their replies. Those that come to nothing, because time is up or
// the machine fails, are empty.
func (s *session) all(tasks []judge.Task, done func(n, all int)) []judge.Reply {
	replies, printed := make([]judge.Reply, len(tasks)), make([]string, len(tasks))
	turns := make(chan struct{}, 2)
	var doing sync.WaitGroup
	var ended atomic.Int64
	for i := range tasks {
		turns <- struct{}{}
		doing.Go(func() {
			defer func() { <-turns }()
			if s.ctx.Err() == nil && time.Since(s.begun) < longestRun {
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

// one does a task. It returns what the lock printed too.
func (s *session) one(task judge.Task) (reply judge.Reply, printed string) {
	task.Limit = stuckAtFirst
	if s.stuck.Load() {
		task.Limit = stuckAgain
	}
	raw, err := json.Marshal(task)
	s.fail(err)
	longest := 2*task.Limit + 4*time.Second
	if task.Search != nil {
		longest += 2 * task.Search.For
	}
	ctx, cancel := context.WithTimeout(s.ctx, longest)
	defer cancel()
	out := filepath.Join(s.dir, fmt.Sprintf("%d.json", s.started.Add(1)))
	cmd := exec.CommandContext(ctx, s.file, string(raw), out)
	cmd.WaitDelay = time.Second
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	var stdout, stderr beginning
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	if s.ctx.Err() != nil {
		return reply, ""
	}
	raw, err = os.ReadFile(out)
	if err != nil || json.Unmarshal(raw, &reply) != nil {
		reply = judge.Reply{Cause: s.endedBadly(ended, stderr.String(), ctx.Err() != nil)}
	}
	if reply.Cause != nil && !reply.Cause.IsLeft() {
		s.stuck.Store(true)
	}
	return reply, stdout.String()
}

// fail notes an error of the machine.
func (s *session) fail(err error) {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, err)
	}
}

// end removes what the session wrote.
func (s *session) end() { _ = os.RemoveAll(s.dir) }

// basicPromises asks what any lock does, and finds out what this one uses. Where the lock does
// not do the first thing that it is for, the failures would say nothing.
func (s *session) basicPromises(r *Report) {
	tasks := []judge.Task{s.task}
	for _, p := range locktest.Promises {
		if p.Basic {
			task := s.task
			task.Promise = p.ID
			tasks = append(tasks, task)
		}
	}
	replies := s.all(tasks, nil)
	s.task.Uses, s.without = replies[0].Uses, replies[0].Without
	for _, reply := range append(replies[1:], replies[0]) {
		if reply.Broken != nil {
			r.Broken = append(r.Broken, *reply.Broken)
		}
		if !reply.Cause.IsLeft() {
			r.Cause = cmp.Or(r.Cause, reply.Cause)
		}
	}
}

// Judge plays a lock of the program. A lock that loops or panics is no error.
func (p *Program) Judge(ctx context.Context, files Files, a asked) (r Report, err error) {
	s, err := p.session(ctx, files, a)
	if err != nil {
		return r, err
	}
	defer s.end()
	s.basicPromises(&r)
	if a.goOn || len(r.Broken) == 0 && r.Cause == nil {
		s.failures(&r)
	}
	r.Printed = s.printed
	return r, errors.Join(append(s.errs, ctx.Err())...)
}

// failures plays the failures that are about something that the lock has, and asks the promises.
func (s *session) failures(r *Report) {
	var tasks []judge.Task
	for _, id := range s.asked.failures {
		if at := slices.IndexFunc(s.without, func(v judge.Verdict) bool { return v.Failure == id }); at >= 0 {
			r.Verdicts = append(r.Verdicts, Verdict{Verdict: s.without[at], Required: slices.Contains(s.asked.required, id)})
			continue
		}
		task := s.task
		task.Failure, task.Draw = id, slices.Contains(s.asked.draw, id)
		tasks = append(tasks, task)
	}
	for _, id := range s.asked.promises {
		task := s.task
		task.Promise = id
		tasks = append(tasks, task)
	}
	for i, reply := range s.all(tasks, s.asked.played) {
		switch id := tasks[i].Failure; {
		case reply.Broken != nil:
			r.Broken = append(r.Broken, *reply.Broken)
		case id != "" && (reply.Verdict != nil || reply.Cause != nil):
			v := Verdict{Required: slices.Contains(s.asked.required, id), Cause: reply.Cause}
			if reply.Verdict != nil {
				v.Verdict = *reply.Verdict
			} else {
				v.Verdict = judge.Verdict{
					Failure: id, Outcome: failures.NotPlayed.String(), Letter: string(failures.NotPlayed), Sentence: reply.Cause.Text.Localize(s.asked.lang),
				}
			}
			r.Verdicts = append(r.Verdicts, v)
		}
	}
	slices.SortStableFunc(r.Verdicts, func(a, b Verdict) int {
		return slices.Index(s.asked.failures, a.Failure) - slices.Index(s.asked.failures, b.Failure)
	})
}

// search asks questions about the lock's schedules, of which each may run that many; 0: no limit.
func (p *Program) search(ctx context.Context, files Files, a asked, questions []schedule.Question, most int) (r Report, err error) {
	s, err := p.session(ctx, files, a)
	if err != nil {
		return r, err
	}
	defer s.end()
	s.task.Uses = s.all([]judge.Task{s.task}, nil)[0].Uses
	var tasks []judge.Task
	for _, q := range questions {
		task := s.task
		task.Search = &judge.Search{Name: schedule.ForeignName("mylock", files.key()), Question: q, Runs: most, For: searchLimit}
		tasks = append(tasks, task)
	}
	s.begun = s.begun.Add(24 * time.Hour) // each search has a limit of its own
	for _, reply := range s.all(tasks, nil) {
		r.Found = append(r.Found, reply.Found...)
		r.Differs = cmp.Or(r.Differs, reply.Differs)
		r.Cause = cmp.Or(r.Cause, reply.Cause)
	}
	r.Printed = s.printed
	return r, errors.Join(append(s.errs, ctx.Err())...)
}
