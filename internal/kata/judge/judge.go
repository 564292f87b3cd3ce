// Package judge runs a lock that somebody else wrote through the catalogue, in a
// process of its own that the lock may ruin. What it finds it writes to a file,
// line by line, so that a run which ends badly has told what came before.
//
// The program around it is generated: it names the locks and calls [Main].
package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Task is what one run is to do.
type Task struct {
	Lock     string             `json:"lock"`               // which of the program's locks
	Required []string           `json:"required"`           // failures that it must survive, in this order
	Skip     []string           `json:"skip,omitempty"`     // failures that are not played
	Package  string             `json:"package,omitempty"`  // the import path that its code begins with, if it is none of LocksPath
	Has      []failures.Feature `json:"has"`                // what the lock is said to have, unless it says so itself
	Draw     []string           `json:"draw"`               // failures whose trace is wanted, whatever comes of them
	Fresh    bool               `json:"fresh"`              // each hold has to write a value of its own
	Again    bool               `json:"again,omitempty"`    // an Unlock that was refused has to free the lock when it is called again
	Ends     bool               `json:"ends,omitempty"`     // the context of a hold has to end with its Unlock
	Patience int                `json:"patience"`           // how many times the usual the run may take; 0 is 1
	Stuck    time.Duration      `json:"stuck_ns,omitempty"` // after how long a scenario is stuck; 0 is the usual
	Lang     i18n.Language      `json:"lang,omitempty"`     // of the sentences
	Search   *Search            `json:"search,omitempty"`   // is made in place of the failures
	Leaks    bool               `json:"leaks,omitempty"`    // a goroutine that is left ends nothing: the first one is told, and all goes on
}

// Longest is how long the run may take before it is ended from outside: it ends itself
// by then, also on a busy machine.
func (t Task) Longest() time.Duration { return 2 * t.longest() }

// longest is when the run ends itself.
func (t Task) longest() time.Duration {
	limit := time.Duration(max(t.Patience, 1)) * runLimit
	if t.Search != nil {
		limit += t.Search.For
	}
	return limit
}

// Line is one line of what a run writes: one of its fields is set.
type Line struct {
	Verdict *Verdict `json:"verdict,omitempty"`
	Cause   *Cause   `json:"cause,omitempty"`
	Found   *Found   `json:"found,omitempty"`
	Done    bool     `json:"done,omitempty"` // the last line of a run that came to its end
}

// Verdict is what one failure did to the lock. The trace is there for the first
// one that is required and red, where the task asks for it, and for others that
// are red unless it is very long.
type Verdict struct {
	Failure  string           `json:"failure"`
	Outcome  string           `json:"outcome"` // the word of a [failures.Outcome]
	Letter   string           `json:"letter"`  // the outcome itself
	Sentence string           `json:"sentence"`
	Required bool             `json:"required"`
	Good     bool             `json:"good"` // safe, noticed, or about something that the lock does not have
	Findings []oracle.Finding `json:"findings,omitempty"`
	// Shows is what the lock has, as the run shows, and is not said to have.
	Shows []failures.Feature `json:"shows,omitempty"`
	Trace *world.Trace       `json:"trace,omitempty"`
}

// IsTold tells whether what the failure is about did happen.
func (v Verdict) IsTold() bool { return v.Outcome != failures.NotTested.String() }

// maxStack is how deep a lock may recurse: deeper than any that means to end.
const maxStack = 64 << 20

// Main is the whole program: its arguments are the task, as JSON, and the file to write
// to.
func Main(locks map[string]failures.Subject) {
	task, out, err := begin(os.Args[1:])
	subject, ok := locks[task.Lock]
	if err != nil || !ok {
		fmt.Fprintf(os.Stderr, "judge: there is no such task: lock %q, %v\n", task.Lock, err)
		os.Exit(2)
	}
	if len(subject.Has) == 0 {
		subject.Has = task.Has
	}
	if subject.Ignore == nil {
		subject.Ignore = failures.IsAuxKey
	}
	lockPath = cmp.Or(task.Package, lockPath)
	g := newGuard(out, task)
	go g.watch()
	debug.SetMaxStack(maxStack)
	limitMemory()
	world.Main(func(t *testing.T, _ []string) int {
		r := &run{t: t, task: task, subject: subject, guard: g}
		r.all()
		return 0
	})
}

func begin(args []string) (task Task, out *os.File, err error) {
	if len(args) != 2 {
		return task, nil, fmt.Errorf("%d arguments", len(args))
	}
	if err := json.Unmarshal([]byte(args[0]), &task); err != nil {
		return task, nil, err
	}
	out, err = os.OpenFile(args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return task, out, err
}

// drawable is how many events a trace may have to be told without need.
const drawable = 2000

type run struct {
	t       *testing.T
	red     bool // a required failure has shown, and not only that its story could not happen
	leaked  bool // a goroutine that was left has been told of
	task    Task
	subject failures.Subject
	guard   *guard
}

// all plays an ordinary day, then what is asked for.
func (r *run) all() {
	r.ordinaryDay()
	r.rehearse()
	if r.task.Search != nil {
		r.explore(*r.task.Search)
	} else {
		r.catalogue()
	}
	r.guard.write(Line{Done: true})
}

// rehearse finds out which scripts the lock uses.
func (r *run) rehearse() {
	r.guard.enter(ordinary.Localize(r.task.Lang))
	defer r.guard.enter("")
	config := r.subject.Config()
	config.Client = counted(config.Client, r.guard)
	scripts, err := world.DiscoverScripts(r.t, config)
	if err != nil {
		r.left(leftover(err))
	}
	r.subject.Scripts = scripts
}

// left ends the run for what it left behind, unless goroutines that are left are to end
// nothing.
func (r *run) left(cause *Cause) {
	switch {
	case !r.task.Leaks || !cause.IsLeft():
		r.guard.convict(cause)
	case !r.leaked:
		r.leaked = true
		r.guard.tell(cause)
	}
}

// catalogue plays the failures that are required, then the others.
func (r *run) catalogue() {
	for _, id := range r.task.Required {
		r.one(id)
	}
	r.whatItHas()
	r.guard.optional.Store(true)
	for _, f := range failures.All {
		if !slices.Contains(r.task.Required, f.ID) && !slices.Contains(r.task.Skip, f.ID) {
			r.one(f.ID)
		}
	}
}

// one plays one failure and writes the verdict.
func (r *run) one(id string) {
	f, ok := failures.Find(id)
	if !ok {
		r.guard.convict(Because("task", "", i18n.Text("there is no failure {id}").Args("id", id)))
	}
	r.guard.enter(id)
	v := failures.Judge(f, r.subject, r.play)
	if v.Err != nil && isLeftover(v.Err) {
		r.left(leftover(v.Err))
	}
	r.guard.enter("")
	r.guard.write(Line{Verdict: r.verdict(v)})
}

// play is a world whose clients are watched, and whose end the guard sees.
func (r *run) play(c world.Config, scenario func(*world.World)) (*world.Trace, error) {
	c.Client = counted(c.Client, r.guard)
	return world.Run(r.t, c, func(w *world.World) {
		defer r.guard.over.Store(true)
		scenario(w)
	})
}

func (r *run) verdict(v failures.Verdict) *Verdict {
	told := &Verdict{
		Failure: v.Failure.ID, Outcome: v.Outcome.String(), Letter: string(rune(v.Outcome)),
		Sentence: v.SentenceIn(r.task.Lang), Findings: r.said(v.Findings),
		Required: slices.Contains(r.task.Required, v.Failure.ID),
		Good:     v.Outcome.IsGood(),
	}
	if v.Trace != nil {
		told.Shows = r.subject.Shows(v.Trace)
	}
	first := !told.Good && told.Required && !r.red
	r.red = r.red || first && told.IsTold()
	if v.Trace != nil && (first || slices.Contains(r.task.Draw, v.Failure.ID) || !told.Good && len(v.Trace.Events) <= drawable) {
		told.Trace = v.Trace
	}
	return told
}

// said are findings in the language that was asked for: another process draws them, and
// has their sentences only.
func (r *run) said(all []oracle.Finding) []oracle.Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = all[i].Localize(r.task.Lang)
	}
	return all
}
