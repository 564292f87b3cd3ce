// Package judge plays a learner's lock. A process does one task, so that no run affects another:
// it plays one failure, or makes one search. The reply is JSON in a file.
//
// The program around it is generated: it names the locks and calls [Main].
package judge

import (
	"cmp"
	"encoding/json"
	"os"
	"runtime/debug"
	"testing"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Task is the work of a process. Failure, Search or Shared is set. Without all three the process finds out which features
// the lock uses.
type Task struct {
	Lock    string  `json:"lock"` // one of the program's locks
	Path    string  `json:"path"` // the beginning of its code's import path
	Failure string  `json:"failure,omitempty"`
	Search  *Search `json:"search,omitempty"`
	Shared  bool    `json:"shared,omitempty"` // find out whether processes share a variable of the package
	Uses    Uses    `json:"uses"`
	// SkipFrames are functions that send commands for the lock: the line that sent one is that of their caller.
	SkipFrames []string            `json:"skip_frames,omitempty"`
	Has        []catalogue.Feature `json:"has"`            // unless the lock has a Subject with its features
	Draw       bool                `json:"draw,omitempty"` // always return the failure's trace
	Limit      time.Duration       `json:"limit_ns"`       // of real time for a run
	Lang       i18n.Language       `json:"lang,omitempty"` // of the texts
}

// Uses is what a lock uses in Redis. It is found once and passed to the other processes.
type Uses struct {
	Scripts []string `json:"scripts,omitempty"`
	AuxKeys []string `json:"aux_keys,omitempty"`
	Waits   bool     `json:"waits,omitempty"` // it sends WAIT, and runs on a master with replicas
}

// Reply is the result of a task. Only the fields of the task are set.
type Reply struct {
	Uses    Uses                `json:"uses"`
	Without []failures.Verdict  `json:"without,omitempty"` // on failures that do not apply to the lock
	Several bool                `json:"several,omitempty"` // the lock is one of several servers
	Verdict *failures.Verdict   `json:"verdict,omitempty"`
	Shows   []catalogue.Feature `json:"shows,omitempty"` // features that the run shows but the lock does not declare
	Found   []Found             `json:"found,omitempty"`
	Differs string              `json:"differs,omitempty"` // a schedule with two different runs
	Cause   *Cause              `json:"cause,omitempty"`   // why the task could not be done, or what the run left behind
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
	if task.Uses.Waits {
		subject = subject.With(catalogue.Waits)
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
	case r.task.Shared:
		return Reply{Cause: r.shared()}
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
	reply.Uses = Uses{Scripts: scripts, AuxKeys: failures.AuxKeys(tr), Waits: failures.SendsWait(tr)}
	if reply.Uses.Waits {
		r.subject = r.subject.With(catalogue.Waits)
	}
	reply.Cause = r.guard.causeOf(err)
	reply.Several = r.subject.NewOver != nil
	for _, f := range catalogue.Everything {
		if !failures.Applies(f, r.subject) {
			reply.Without = append(reply.Without, failures.Judge(f, r.subject, nil).In(r.task.Lang))
		}
	}
	return reply
}

// drawable is how many events a trace may have, unless the task wants it.
const drawable = 2000

// failure plays a failure. Its verdict has the trace if the task wants it, or if the outcome is bad and
// the trace not very long.
func (r *run) failure() (reply Reply) {
	f, _ := catalogue.Find(r.task.Failure) // the kata names only those that there are
	v := failures.Judge(f, r.subject, func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
		return world.Run(r.t, c, func(w *world.World) {
			defer r.guard.over.Store(true)
			scenario(w)
		})
	})
	reply.Cause = r.guard.causeOf(v.Err)
	if v.Passes() && f.Family == catalogue.Fences {
		reply.Cause = cmp.Or(reply.Cause, r.ownTokens(f, v.Trace))
	}
	said := v.In(r.task.Lang)
	if v.Trace != nil {
		reply.Shows = r.subject.Shows(v.Trace)
		if !r.task.Draw && (v.Passes() || len(v.Trace.Events) > drawable) {
			said.Trace = nil
		}
	}
	reply.Verdict = &said
	return reply
}
