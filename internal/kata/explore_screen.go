package kata

import (
	"cmp"
	"fmt"
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// What a search has found.
var (
	oursToo     = i18n.New("  our lock of {stage} breaks it as well")
	shortestWay = i18n.New("The shortest way to break {property}, in {env}:")
	brokenBy    = i18n.New("BROKEN: {rule}: {what}.")
)

// Screen shows what was found about each property, and draws the shortest schedule
// that breaks it: for somebody at the keys, of all those that are broken, one.
func (x Explored) Screen(v View) string {
	text := x.Exercise.headline(v)
	if x.Compile != nil {
		return text + x.stopped(v)
	}
	for _, f := range x.Found {
		text += f.QuestionIn(v.Lang) + "\n" + f.Answer.Localize(v.Lang)
		if f.Answer.Found && x.Exercise.given(f) { // then it is no mistake of the learner's
			text += v.say(oursToo, "stage", column(x.Exercise.Base).NameIn(v.Lang)) + "\n"
		}
		text += "\n"
	}
	shown := shortest(x.Exercise, x.Found)
	if v.Keys && len(shown) > 1 {
		shown = shown[:1]
	}
	for _, f := range shown {
		text += v.counterexample(f) + "\n"
	}
	return text + x.stopped(v) + x.printed(v) + x.differs(v) + v.wrapped(x.sum(v))
}

// counterexample draws a schedule that breaks a property.
func (v View) counterexample(f judge.Found) string {
	rule := f.Property
	if len(f.Findings) > 0 { // the name that it has in the picture
		rule = string(f.Findings[0].Monitor)
	}
	text := v.line(term.Bold, v.say(shortestWay, "property", f.Property, "env", f.Env))
	if f.Trace != nil { // a lock that decides by chance went another way
		text += v.picture(f.Trace, f.Findings)
	}
	return text + v.painted(term.Red, v.say(brokenBy, "rule", i18n.Text(rule), "what", f.Text))
}

// lesson is how our own lock breaks the property, if it does.
func (e Exercise) lesson(f judge.Found) schedule.Answer {
	lesson := schedule.Answer{}
	_, err := fmt.Sscanf(column(e.Base).Search(f.Property, f.Env), "%d/%d", &lesson.Cost, &lesson.Steps)
	lesson.Found = err == nil
	return lesson
}

// given tells whether our own lock breaks the property as cheaply.
func (e Exercise) given(f judge.Found) bool { return !f.Cheaper(e.lesson(f)) }

// shortest are the shortest ways to break each of the properties, first those that our own
// lock survives, each in the order of what they cost.
func shortest(e Exercise, found []judge.Found) []judge.Found {
	all := slices.DeleteFunc(slices.Clone(found), func(f judge.Found) bool { return !f.Answer.Found })
	given := func(f judge.Found) int {
		if e.given(f) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b judge.Found) int {
		return cmp.Or(given(a)-given(b), a.Cost-b.Cost, a.Steps-b.Steps)
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f judge.Found) bool {
		was := seen[f.Property]
		seen[f.Property] = true
		return was
	})
}

// schedules is how many were run: answers of one search count once.
func schedules(found []judge.Found) (runs int) {
	searches := map[string]bool{}
	for _, f := range found {
		if search := fmt.Sprint(f.Env, f.Clients, f.Runs, f.States); !searches[search] {
			searches[search] = true
			runs += f.Runs
		}
	}
	return runs
}

var twoWays = i18n.New("One schedule did not go the same way twice, so the search left it out: {schedule}. If two things happen at " +
	"one instant, such as a tick and the end of a context, either may come first: look at ctx.Err() before you send a command.")

// differs says that the lock decides by chance.
func (r Report) differs(v View) string {
	if r.Differs == "" {
		return ""
	}
	return v.wrapped(v.say(twoWays, "schedule", r.Differs))
}

var (
	searchedAll = i18n.NewPlural("{n} schedule of your lock and real go-redis clients on an embedded Redis.",
		"{n} schedules of your lock and real go-redis clients on an embedded Redis.")
	searchCut = i18n.NewPlural("After {time}, or because memory ran short, the search for {n} answer was cut short: the lines above say how far it came.",
		"After {time}, or because memory ran short, the search for {n} answers was cut short: the lines above say how far it came.")
	searchNone = i18n.New("Nothing is broken up to the costs above; that is no proof.")
)

// sum is what it comes to.
func (x Explored) sum(v View) string {
	cut, broken := 0, x.Cause != nil
	for _, f := range x.Found {
		broken = broken || f.Answer.Found
		if !f.Exhausted {
			cut++
		}
	}
	text := searchedAll.Of(schedules(x.Found)).Localize(v.Lang)
	if cut > 0 {
		text = term.Joined(text, searchCut.Of(cut, "time", searchLimit).Localize(v.Lang))
	}
	if !broken {
		text = term.Joined(text, v.say(searchNone))
	}
	return text
}
