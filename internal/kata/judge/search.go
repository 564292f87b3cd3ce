package judge

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Search is one search through the schedules of a lock.
type Search struct {
	Name         string            `json:"name"` // of the lock, in its schedules
	Question     schedule.Question `json:"question"`
	Attempts     int               `json:"attempts"` // of each client
	For          time.Duration     `json:"for_ns"`   // a limit of its real time
	Runs         int               `json:"runs"`     // a limit of its schedules; 0: no limit
	SkipUnstable bool              `json:"skip"`     // ignores schedules that do not go the same way twice
}

// Found is the result of a search for one property. If the property is broken it has the run of the
// shortest schedule that breaks it.
type Found struct {
	schedule.Answer
	Line     string           `json:"line,omitempty"`
	Findings []oracle.Finding `json:"findings,omitempty"`
	Trace    *trace.Trace     `json:"trace,omitempty"`
}

// searchMemory is how much memory a search may take for the states that it has seen. The rest is
// for the lock.
const searchMemory = memoryLimit / 2

// SearchHere makes the task's search on one of our own locks, in this process. stop can end it early.
func SearchHere(t *testing.T, subject failures.Subject, task Task, stop func(schedule.Progress) bool) Reply {
	r := &run{t, task, subject, &guard{task: task}}
	return r.search(*task.Search, stop)
}

// search answers a question. If the question does not apply to the lock the reply is empty.
func (r *run) search(s Search, stop func(schedule.Progress) bool) (reply Reply) {
	subject := r.subject
	subject.Name = s.Name
	setup, properties := s.Question.Ask(subject, s.Attempts)
	if len(properties) == 0 {
		return reply
	}
	begun := time.Now()
	result, err := schedule.Search(r.t, setup, properties, schedule.Limits{
		Bound: s.Question.Bound, Runs: s.Runs, Reject: withoutPanic, SkipUnstable: s.SkipUnstable, Stop: stop,
	})
	if err != nil {
		return Reply{Cause: r.unsearchable(err)}
	}
	reply.Differs = result.Differs
	for i, answer := range result.Answers(setup, properties, time.Since(begun)) {
		found := Found{Answer: answer}
		found.Text = answer.TextIn(r.task.Lang)
		if answer.Found {
			setup.Property = properties[i]
			r.draw(&found, setup, result.Found[answer.Property].Schedule)
		}
		reply.Found = append(reply.Found, found)
	}
	return reply
}

// draw plays a schedule again for its trace. If the lock goes another way there is no trace.
func (r *run) draw(found *Found, setup schedule.Setup, steps []string) {
	r.guard.begin()
	var astray error
	played, err := schedule.Play(r.t, setup, schedule.Follow(steps, &astray))
	if cmp.Or(err, astray) != nil {
		return
	}
	findings := played.Broken(setup.Property.Breaks)
	if len(findings) == 0 {
		return
	}
	found.Trace, found.Findings = played.Trace, oracle.In(r.task.Lang, findings)
	found.Line = failures.SourceOf(played.Trace, findings[0]).String()
}

// withoutPanic ends a search at the first call that panics, since no property covers panics.
func withoutPanic(played schedule.Played) error {
	for _, e := range played.Trace.Events {
		if e.Kind == trace.Returned && e.Result.Claim == trace.ClaimPanic {
			return panicsAt.Args("call", e.Op, "line", e.Source, "panic", strings.TrimPrefix(e.Result.Error, "panic: "))
		}
	}
	return nil
}

var (
	searchStops      = i18n.New("The search cannot go on: {why}.")
	unsearchableNext = i18n.New("Let the lock decide by Redis's answers, its context and the time alone, and let every wait end.")
)

// unsearchable returns the cause of an error that ended a search.
func (r *run) unsearchable(err error) *Cause {
	if p := (i18n.Message{}); errors.As(err, &p) && p.Text == panicsAt {
		return Because(Panics, panicNext, p)
	}
	if cause := r.guard.causeOf(err); cause.Kind != NoUse {
		return cause
	}
	return Because(Unsearchable, unsearchableNext, searchStops.Args("why", err))
}
