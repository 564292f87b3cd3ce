package judge

import (
	"cmp"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// Search is one search through the schedules of a lock.
type Search struct {
	Lock     string            `json:"lock"` // what its schedules call it
	Question schedule.Question `json:"question"`
	Attempts int               `json:"attempts"` // how often each client asks for the lock
	For      time.Duration     `json:"for_ns"`   // after that long it is cut short
	Runs     int               `json:"runs"`     // after that many schedules too; 0: however many there are
}

// Found is what a search found about one property, and for one that is broken the
// shortest schedule that breaks it, as it ran.
type Found struct {
	schedule.Answer
	Findings []oracle.Finding `json:"findings,omitempty"`
	Trace    *world.Trace     `json:"trace,omitempty"`
}

// searchMemory is how much a search may take for the states it has seen: what the
// guard would hold against the lock is more.
const searchMemory = memoryLimit / 2

// explore searches the schedules of the lock, as the question says.
func (r *run) explore(s Search) {
	subject := r.subject
	subject.Name = s.Lock
	setup, properties := s.Question.Ask(subject, s.Attempts)
	if len(properties) == 0 {
		return // it is about something that the lock does not have
	}
	begun := time.Now()
	limits := schedule.Limits{
		Bound: s.Question.Bound, Runs: s.Runs,
		See: unharmed,
		Stop: func(schedule.Progress) bool {
			r.guard.enter(searching.Localize(r.task.Lang, "env", setup.Env.Name))
			return time.Since(begun) > s.For || heap() > searchMemory
		},
	}
	result, err := schedule.Search(r.t, setup, properties, limits)
	if err != nil {
		r.guard.convict(unsearchable(err))
	}
	for i, answer := range result.Answers(setup, properties, time.Since(begun)) {
		found := Found{Answer: answer}
		found.Text = answer.TextIn(r.task.Lang)
		if answer.Found {
			setup.Property = properties[i]
			found.Trace, found.Findings = r.replay(setup, result.Found[answer.Property].Schedule)
		}
		r.guard.write(Line{Found: &found})
	}
	r.guard.enter("")
}

// replay runs a schedule again, for its trace.
func (r *run) replay(setup schedule.Setup, steps []string) (*world.Trace, []oracle.Finding) {
	run, err := quiz.Follow(r.t, setup, steps)
	if err = cmp.Or(err, run.Astray); err != nil {
		r.guard.convict(unsearchable(err))
	}
	return run.Trace, r.said(run.Found)
}

// panicked is a call that ended in a panic.
type panicked struct{ op, text string }

func (p panicked) Error() string { return p.op + " ends in a " + p.text }

// unharmed wants a run without a panic: no property is about those.
func unharmed(played schedule.Played) error {
	for _, e := range played.Trace.Events {
		if e.Kind == world.Returned && e.Result.Claim == world.ClaimPanic {
			return panicked{e.Op, e.Result.Error}
		}
	}
	return nil
}

var (
	searching        = i18n.New("the search in {env}")
	searchStops      = i18n.New("The search cannot go on: {why}.")
	unsearchableNext = i18n.New("Let the lock decide by Redis's answers, its context and the time alone, " +
		"the same each time, and let every wait end.")
	eitherWay     = i18n.New("The same schedule does not go the same way twice: {schedule}.")
	eitherWayNext = i18n.New("What falls on one instant goes either way: a tick, a timer, the end of a context. " +
		"Look at the time and at the context before you send a command.")
)

// unsearchable is the verdict on a lock with which the search cannot go on.
func unsearchable(err error) *Cause {
	if p, ok := err.(panicked); ok {
		return panics(p.op, p.text, frame{})
	}
	if isLeftover(err) {
		return leftover(err)
	}
	if schedule, why, _ := strings.Cut(err.Error(), ": step "); strings.Contains(why, "is not possible any more") {
		return Because(Unsearchable, eitherWayNext, eitherWay.Args("schedule", strings.TrimPrefix(schedule, "after ")))
	}
	return Because(Unsearchable, unsearchableNext, searchStops.Args("why", err))
}

// isLeftover tells of a run that left goroutines of the lock behind.
func isLeftover(err error) bool { return strings.Contains(err.Error(), "were left") }
