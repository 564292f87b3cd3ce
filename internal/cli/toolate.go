package cli

import (
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
	"lockkata/internal/quiz"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// tooLate is since when a run's rule could not be kept any more; nil if it is kept, or if
// nobody could look.
type tooLate schedule.Inevitable

// since looks for it in the run of a failure. Nobody looks on a document's lock: one that does
// not come to rest after a run makes each of many runs a long one.
func (a *app) since(v failures.Verdict, c columns.Column) *tooLate {
	document := slices.ContainsFunc(columns.Documents(), func(d columns.Column) bool { return d.ID == c.ID })
	if document || v.Outcome != failures.Broken && v.Outcome != failures.Inherent {
		return nil
	}
	return asTooLate(schedule.FindInevitable(a.t, v, c.Subject))
}

// sinceStep looks for it in a schedule's run.
func (a *app) sinceStep(s schedule.Setup, m quiz.Run) *tooLate {
	if len(m.Found) == 0 {
		return nil
	}
	return asTooLate(schedule.FindInevitableStep(a.t, s, m.Schedule, m.Found[0]))
}

func asTooLate(i schedule.Inevitable, err error) *tooLate {
	if err != nil { // what is drawn is right without it
		return nil
	}
	late := tooLate(i)
	return &late
}

// mark is where it stands in a drawing, if it does.
func (l *tooLate) mark() (mark timeline.TooLate) {
	if l != nil && !l.Last {
		mark = timeline.TooLate{Events: l.Events, Rule: l.Rule}
	}
	return mark
}

var (
	lateSince = texts.NewPlural(
		"Too late from {time} on: {what} Each continuation from there breaks the rule, even if nothing goes wrong any more: 1 schedule, up to cost {bound}.",
		"Too late from {time} on: {what} Each continuation from there breaks the rule, even if nothing goes wrong any more: {n} schedules, up to cost {bound}.")
	keptUntil = texts.New("The rule could be kept until the very step that breaks it.")
	wayOut    = texts.New("This schedule starts just before that, and keeps the rule: go run . replay '{schedule}'")
)

// in says it in lines of text.
func (l *tooLate) in(a *app, trace *world.Trace) (lines []string) {
	switch {
	case l == nil:
		return nil
	case l.Last && l.Kept:
		lines = []string{a.say(keptUntil)}
	case !l.Last:
		said := lateSince.Of(l.Schedules, "time", term.Clock(trace.Events[l.Events-1].At),
			"what", timeline.Moment(trace, l.Events, a.lang), "bound", l.Bound)
		lines = a.wrapped(said.In(a.lang), 0)
	}
	if l.Way != "" {
		lines = append(lines, a.say(wayOut, "schedule", l.Way))
	}
	return lines
}
