// Package judge is the test of a lock, and the inside of its bench: the test binary plays the failures that
// "go test" asks for, or the one task that another process asks for, so that no run affects another.
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
	"lockkata/failures_test/guard"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Variable is the environment variable with a [Task] as JSON.
const Variable = "LOCKKATA_TASK"

// Task is the work of a process. Failure, Search or Shared is set. Without all three the process finds out
// what the lock uses.
type Task struct {
	Reply   string            `json:"reply"` // the file for the reply
	Failure string            `json:"failure,omitempty"`
	Draw    bool              `json:"draw,omitempty"` // always return the failure's trace
	Search  *schedule.Inquiry `json:"search,omitempty"`
	Shared  bool              `json:"shared,omitempty"` // find out whether processes share a variable of the package
	Use     failures.Use      `json:"use"`
	Path    string            `json:"path"`     // the beginning of the import paths of the lock's code
	Limit   time.Duration     `json:"limit_ns"` // of processor time for a run
	Lang    i18n.Language     `json:"lang,omitempty"`
}

// Reply is the result of a task. Only the fields of the task are set.
type Reply struct {
	Use      failures.Use   `json:"use"`
	Cell     *failures.Cell `json:"cell,omitempty"`
	Searched schedule.Reply `json:"searched"`
	Cause    *guard.Cause   `json:"cause,omitempty"` // why the task could not be done
}

// maxStack is more than a lock without endless recursion needs.
const maxStack = 64 << 20

// Test is the test of a lock. It plays the named failures, as [failures.Require] does, and fails at once if the lock
// cannot be played. In a process of a bench it does the bench's task, and ends the process.
func Test(t *testing.T, s failures.Subject, names ...string) {
	raw := os.Getenv(Variable)
	if raw == "" {
		r := &run{t: t, subject: Task{}.prepare(s), guard: &guard.Guard{Limit: guard.Processor}}
		var use failures.Use
		var shared *guard.Cause
		cause := r.guard.Run(func() { use, shared = r.use(), r.shared() })
		if cause = cmp.Or(cause, shared); cause != nil {
			t.Fatalf("your lock %s: %s %s", cause.Kind, cause.Text, cause.Next)
		}
		failures.Require(t, r.subject.Ignoring(use.AuxKeys), names...)
		return
	}
	var task Task
	if err := json.Unmarshal([]byte(raw), &task); err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	debug.SetMaxStack(maxStack)
	guard.LimitMemory()
	world.TuneForBatch()
	r := &run{t: t, task: task, subject: task.prepare(s), guard: &guard.Guard{Path: task.Path, Limit: task.Limit}}
	var reply Reply
	if cause := r.guard.Run(func() { reply = r.do() }); cause != nil {
		reply = Reply{Cause: cause}
	}
	if err := task.reply(reply); err != nil {
		t.Fatal(err)
	}
	os.Exit(0)
}

// prepare adds to the lock what the task knows about it.
func (task Task) prepare(s failures.Subject) failures.Subject {
	if s.Ignore == nil {
		s.Ignore = failures.IsAuxKey
	}
	if task.Use.Waits {
		s = s.With(failures.Waits)
	}
	s.Scripts = task.Use.Scripts
	return s.Ignoring(task.Use.AuxKeys)
}

// reply writes the reply. Another process has only the texts of its causes.
func (task Task) reply(r Reply) error {
	causes := []*guard.Cause{r.Cause, r.Use.Cause, r.Searched.Cause}
	if r.Cell != nil {
		causes = append(causes, r.Cell.Cause)
	}
	for _, cause := range causes {
		if cause != nil {
			cause.Text, cause.Next = i18n.Text(cause.Text.Localize(task.Lang)).Args(), i18n.Text(cause.Next.Localize(task.Lang)).Args()
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(task.Reply, raw, 0o600)
}

type run struct {
	t       *testing.T
	task    Task
	subject failures.Subject
	guard   *guard.Guard
}

func (r *run) do() Reply {
	switch {
	case r.task.Failure != "":
		return r.failure()
	case r.task.Shared:
		return Reply{Cause: r.shared()}
	case r.task.Search != nil:
		return Reply{Searched: r.task.Search.Inquire(r.t, r.subject, r.guard, func(schedule.Progress) bool { return guard.HeapIsLarge() })}
	}
	return Reply{Use: r.use()}
}

// use plays normal use, and finds out which failures do not apply to the lock.
func (r *run) use() failures.Use {
	tr, scripts, err := world.Discover(r.t, r.subject.Config())
	aux := failures.AuxKeys(tr)
	use := failures.Use{
		Scripts: scripts, AuxKeys: aux, Locks: failures.LockKeys(tr, aux), Waits: failures.SendsWait(tr),
		Several: r.subject.NewOver != nil, Cause: r.guard.CauseOf(err),
	}
	if use.Waits {
		r.subject = r.subject.With(failures.Waits)
	}
	for _, v := range r.subject.Without(catalogue.Everything) {
		use.Without = append(use.Without, v.In(r.task.Lang))
	}
	return use
}

// drawable is how many events a trace may have, unless the task wants it.
const drawable = 2000

// failure plays a failure. Its verdict has the trace if the task wants it, or if the outcome is bad and
// the trace not very long.
func (r *run) failure() (reply Reply) {
	f, _ := catalogue.Find(r.task.Failure) // the bench names only those that there are
	v := failures.Judge(f, r.subject, func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
		return world.Run(r.t, c, func(w *world.World) {
			defer func() { r.guard.Over(w.Flood()) }()
			scenario(w)
		})
	})
	cell := failures.Cell{Cause: r.guard.CauseOf(v.Err)}
	if v.Passes() && f.Family == catalogue.Fences {
		cell.Cause = cmp.Or(cell.Cause, r.ownTokens(f, v.Trace))
	}
	cell.Verdict = v.In(r.task.Lang)
	if v.Trace != nil {
		cell.Shows = r.subject.Shows(v.Trace)
		if !r.task.Draw && (v.Passes() || len(v.Trace.Events) > drawable) {
			cell.Trace = nil
		}
	}
	return Reply{Cell: &cell}
}
