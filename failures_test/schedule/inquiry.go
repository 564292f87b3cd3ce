package schedule

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Inquiry is one search through the schedules of a lock.
type Inquiry struct {
	Name         string        `json:"name"` // of the lock, in its schedules
	Question     Question      `json:"question"`
	Attempts     int           `json:"attempts"` // of each client
	For          time.Duration `json:"for_ns"`   // a limit of its real time; 0: no limit
	Runs         int           `json:"runs"`     // a limit of its schedules; 0: no limit
	SkipUnstable bool          `json:"skip"`     // ignores schedules that do not go the same way twice
	Lang         i18n.Language `json:"lang,omitempty"`
}

// Found is the result of a search for one property. If the property is broken it has the run of the
// shortest schedule that breaks it.
type Found struct {
	Answer
	Line     string           `json:"line,omitempty"`
	Findings []oracle.Finding `json:"findings,omitempty"`
	Trace    *trace.Trace     `json:"trace,omitempty"`
}

// Reply is the result of an inquiry. Without answers it does not apply to the lock, or did not begin.
type Reply struct {
	Found   []Found      `json:"found,omitempty"`
	Differs string       `json:"differs,omitempty"` // a schedule with two different runs
	Cause   *guard.Cause `json:"cause,omitempty"`   // why the search could not be made
}

// Searcher is a bench that can also search schedules.
type Searcher interface {
	failures.Bench
	// Search makes the searches, several at once if it can, and returns their replies. When ctx ends it begins no
	// other search; one under way replies what it knows, or nothing.
	Search(ctx context.Context, all []Inquiry) ([]Reply, error)
}

// Here returns [failures.Here] with searches, one after the other. tell gets the progress before each run; nil: nobody.
func Here(t *testing.T, s failures.Subject, tell func(Inquiry, Progress)) Searcher {
	return &here{failures.Here(t, s), t, s, tell}
}

type here struct {
	failures.Bench
	t       *testing.T
	subject failures.Subject
	tell    func(Inquiry, Progress)
}

func (b *here) Search(ctx context.Context, all []Inquiry) (replies []Reply, err error) {
	use, err := b.Learn(ctx)
	if err != nil {
		return nil, err
	}
	subject := b.subject
	subject.Scripts = use.Scripts
	for _, q := range all {
		if ctx.Err() != nil {
			replies = append(replies, Reply{})
			continue
		}
		replies = append(replies, q.Inquire(b.t, subject, &guard.Guard{}, func(p Progress) bool {
			if b.tell != nil {
				b.tell(q, p)
			}
			return ctx.Err() != nil
		}))
	}
	return replies, nil
}

// Inquire makes a search on a lock. stop is called before each run; true ends the search.
func (q Inquiry) Inquire(t *testing.T, subject failures.Subject, g *guard.Guard, stop func(Progress) bool) (reply Reply) {
	subject.Name = q.Name
	setup, properties := q.Question.Ask(subject, q.Attempts)
	if len(properties) == 0 {
		return reply
	}
	begun := time.Now()
	result, err := Search(t, setup, properties, Limits{
		Bound: q.Question.Bound, Runs: q.Runs, Reject: withoutPanic, SkipUnstable: q.SkipUnstable,
		Stop: func(p Progress) bool {
			g.Begin()
			return q.For > 0 && time.Since(begun) > q.For || stop(p)
		},
	})
	if err != nil {
		return Reply{Cause: unsearchable(g, err)}
	}
	reply.Differs = result.Differs
	for i, answer := range result.Answers(setup, properties, time.Since(begun)) {
		found := Found{Answer: answer}
		found.Text = answer.TextIn(q.Lang)
		if answer.Found {
			setup.Property = properties[i]
			g.Begin()
			found.draw(t, setup, result.Found[answer.Property].Schedule, q.Lang)
		}
		reply.Found = append(reply.Found, found)
	}
	return reply
}

// draw plays a schedule again for its trace. If the lock goes another way there is no trace.
func (found *Found) draw(t *testing.T, setup Setup, steps []string, lang i18n.Language) {
	var astray error
	played, err := Play(t, setup, Follow(steps, &astray))
	if cmp.Or(err, astray) != nil {
		return
	}
	findings := played.Broken(setup.Property.Breaks)
	if len(findings) == 0 {
		return
	}
	found.Trace, found.Findings = played.Trace, oracle.In(lang, findings)
	found.Line = failures.SourceOf(played.Trace, findings[0]).String()
}

// withoutPanic ends a search at the first call that panics, since no property covers panics.
func withoutPanic(played Played) error {
	for _, e := range played.Trace.Events {
		if e.Kind == trace.Returned && e.Result.Claim == trace.ClaimPanic {
			return panicsAt.Args("call", e.Op, "line", e.Source, "panic", strings.TrimPrefix(e.Result.Error, "panic: "))
		}
	}
	return nil
}

var (
	panicsAt         = i18n.New("{call} panics at {line}: {panic}")
	panicNext        = i18n.New("A nil map or a nil pointer is the usual reason.")
	searchStops      = i18n.New("The search cannot go on: {why}.")
	unsearchableNext = i18n.New("Let the lock decide by Redis's answers, its context and the time alone, and let every wait end.")
)

// unsearchable returns the cause of an error that ended a search.
func unsearchable(g *guard.Guard, err error) *guard.Cause {
	if p := (i18n.Message{}); errors.As(err, &p) && p.Text == panicsAt {
		return guard.Because(guard.Panics, panicNext, p)
	}
	if cause := g.CauseOf(err); cause.Kind != guard.NoUse {
		return cause
	}
	return guard.Because(guard.Unsearchable, unsearchableNext, searchStops.Args("why", err))
}
