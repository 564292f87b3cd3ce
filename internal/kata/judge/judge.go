// Package judge plays a learner's lock. A process does one task, so that no run affects another:
// it plays one failure, checks one promise, or makes one search. The reply is JSON in a file.
//
// The program around it is generated: it names the locks and calls [Main].
package judge

import (
	"cmp"
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/locktest"
)

// Task is the work of a process. One of Failure, Promise and Search is set. Without any the process
// finds out which features the lock uses.
type Task struct {
	Lock    string  `json:"lock"` // one of the program's locks
	Path    string  `json:"path"` // the beginning of its code's import path
	Failure string  `json:"failure,omitempty"`
	Promise string  `json:"promise,omitempty"`
	Search  *Search `json:"search,omitempty"`
	Uses    Uses    `json:"uses"`
	// SkipFrames are functions that send commands for the lock: the line that sent one is that of their caller.
	SkipFrames []string           `json:"skip_frames,omitempty"`
	Has        []failures.Feature `json:"has"`            // unless the lock has a Subject with its features
	Draw       bool               `json:"draw,omitempty"` // always return the failure's trace
	Limit      time.Duration      `json:"limit_ns"`       // of real time for a run
	Lang       i18n.Language      `json:"lang,omitempty"` // of the texts
}

// Uses is what a lock uses in Redis. It is found once and passed to the other processes.
type Uses struct {
	Scripts []string `json:"scripts,omitempty"`
	AuxKeys []string `json:"aux_keys,omitempty"`
}

// Reply is the result of a task. Only the fields of the task are set.
type Reply struct {
	Uses    Uses      `json:"uses"`
	Without []Verdict `json:"without,omitempty"` // on failures that do not apply to the lock
	Verdict *Verdict  `json:"verdict,omitempty"`
	Broken  *Broken   `json:"broken,omitempty"` // nil: the promise is kept
	Found   []Found   `json:"found,omitempty"`
	Differs string    `json:"differs,omitempty"` // a schedule with two different runs
	Cause   *Cause    `json:"cause,omitempty"`   // why the task could not be done, or what the run left behind
}

// Verdict is the result of one failure. It has the trace if the task wants it, or if the outcome is
// bad and the trace not very long.
type Verdict struct {
	Failure  string           `json:"failure"`
	Outcome  string           `json:"outcome"` // the name of a [failures.Outcome]
	Letter   string           `json:"letter"`  // its letter
	Sentence string           `json:"sentence"`
	Line     string           `json:"line,omitempty"` // of the lock, where it broke the rule
	Good     bool             `json:"good"`           // no rule is broken
	Against  oracle.Finding   `json:"against"`        // the finding that breaks the lock
	Findings []oracle.Finding `json:"findings,omitempty"`
	// Shows lists features that the run shows but the lock does not declare.
	Shows []failures.Feature `json:"shows,omitempty"`
	Trace *trace.Trace       `json:"trace,omitempty"`
}

// Broken is a promise that the lock does not keep.
type Broken struct {
	Promise string       `json:"promise"`
	Title   string       `json:"title"`
	Text    string       `json:"text"`   // an explanation
	Advice  string       `json:"advice"` // advice
	Line    string       `json:"line,omitempty"`
	Trace   *trace.Trace `json:"trace,omitempty"`
}

// maxStack is more than a lock without endless recursion needs.
const maxStack = 64 << 20

// Main is the whole program. Its arguments are the task as JSON and the file for the reply.
func Main(locks map[string]failures.Subject) {
	var task Task
	if err := json.Unmarshal([]byte(os.Args[1]), &task); err != nil {
		panic("judge: " + err.Error())
	}
	subject := locks[task.Lock]
	if len(subject.Has) == 0 {
		subject.Has = task.Has
	}
	if subject.Ignore == nil {
		subject.Ignore = failures.IsAuxKey
	}
	subject.Scripts = task.Uses.Scripts
	subject.SkipFrames = append(subject.SkipFrames, task.SkipFrames...)
	g := &guard{out: os.Args[2], task: task}
	go g.watch()
	debug.SetMaxStack(maxStack)
	limitMemory()
	world.Main(func(t *testing.T, _ []string) int {
		world.TuneForBatch()
		r := &run{t, task, subject.Ignoring(task.Uses.AuxKeys), g}
		g.reply(r.do())
		return 0
	})
}

type run struct {
	t       *testing.T
	task    Task
	subject failures.Subject
	guard   *guard
}

func (r *run) do() Reply {
	switch {
	case r.task.Failure != "":
		return r.failure()
	case r.task.Promise != "":
		return r.promise()
	case r.task.Search != nil:
		begun := time.Now()
		return r.search(*r.task.Search, func(schedule.Progress) bool {
			r.guard.begin()
			return time.Since(begun) > r.task.Search.For || heap() > searchMemory
		})
	}
	return r.uses()
}

// uses plays normal use, and finds out which failures do not apply to the lock.
func (r *run) uses() (reply Reply) {
	tr, scripts, err := world.Discover(r.t, r.subject.Config())
	reply.Uses = Uses{Scripts: scripts, AuxKeys: failures.AuxKeys(tr)}
	reply.Cause = r.guard.causeOf(err)
	for _, f := range failures.All {
		if !f.Applies(r.subject) {
			reply.Without = append(reply.Without, *r.verdict(failures.Judge(f, r.subject, nil)))
		}
	}
	return reply
}

// drawable is how many events a trace may have, unless the task wants it.
const drawable = 2000

func (r *run) failure() Reply {
	f, _ := failures.Find(r.task.Failure) // the kata names only those that there are
	v := failures.Judge(f, r.subject, func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
		return world.Run(r.t, c, func(w *world.World) {
			defer r.guard.over.Store(true)
			scenario(w)
		})
	})
	reply := Reply{Verdict: r.verdict(v)}
	if v.Err != nil {
		reply.Cause = r.guard.causeOf(v.Err)
	}
	return reply
}

func (r *run) verdict(v failures.Verdict) *Verdict {
	verdict := &Verdict{
		Failure: v.Failure.ID, Outcome: v.Outcome.String(), Letter: string(rune(v.Outcome)),
		Sentence: v.SentenceIn(r.task.Lang), Findings: r.localize(v.Findings...),
		Good: v.Outcome.IsGood() || v.Outcome == failures.NotTested,
	}
	if against, is := v.Against(); is {
		source, _ := failures.SourceOf(v.Trace, against)
		verdict.Against, verdict.Line = r.localize(against)[0], source.String()
	}
	if v.Trace != nil {
		verdict.Shows = r.subject.Shows(v.Trace)
		if r.task.Draw || !verdict.Good && len(v.Trace.Events) <= drawable {
			verdict.Trace = v.Trace
		}
	}
	return verdict
}

// localize returns findings with texts in the task's language, since the process that draws them gets
// only the texts.
func (r *run) localize(all ...oracle.Finding) []oracle.Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = all[i].Localize(r.task.Lang)
	}
	return all
}

func (r *run) promise() (reply Reply) {
	at := slices.IndexFunc(locktest.Promises, func(p locktest.Promise) bool { return p.ID == r.task.Promise })
	p := locktest.Promises[at]
	if !p.Applies(r.subject) {
		return reply
	}
	b := p.Check(r.t, r.subject)
	if cause := r.guard.causeOf(b.Err); cause != nil && cause.Kind == Floods {
		return Reply{Cause: cause}
	}
	if b.IsBroken() {
		stuckAt := r.guard.locate(&b)
		reply.Broken = &Broken{
			Promise: p.ID, Title: p.Title.Localize(r.task.Lang), Text: b.Text.Localize(r.task.Lang), Advice: b.Advice.Localize(r.task.Lang),
			Line: cmp.Or(stuckAt, b.Source.String()), Trace: b.Trace,
		}
	}
	return reply
}
