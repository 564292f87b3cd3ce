package kata

import (
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// View is how a screen is drawn.
type View struct {
	Color term.Color
	Width int
	Keys  bool   // it is read by somebody who presses keys, not types commands
	Dir   string // " --dir …" where the commands need it
	Lang  i18n.Language
}

// prose is the widest that sentences are set.
const prose = 100

// wrapped are the lines of some sentences.
func (v View) wrapped(text string) string {
	return strings.Join(term.Wrap(text, min(v.Width, prose)), "\n") + "\n"
}

// say is a text in the language that was asked for.
func (v View) say(t i18n.Text, pairs ...any) string { return t.Localize(v.Lang, pairs...) }

// line is a line in a style.
func (v View) line(style term.Style, text string) string { return v.Color.Paint(style, text) + "\n" }

// verdict is a sentence about what is broken.
func (v View) verdict(text string) string {
	return v.line(term.Red, strings.TrimSuffix(v.wrapped(text), "\n"))
}

func (v View) picture(trace *world.Trace, findings []oracle.Finding) string {
	return timeline.Text(trace, findings, timeline.Options{Color: v.Color, Width: v.Width, Language: v.Lang}) + "\n"
}

var exerciseHead = i18n.New("exercise {id}: {title}")

// headline is the line above every screen.
func (e Exercise) headline(v View) string {
	return v.line(term.Bold, v.say(exerciseHead, "id", e.ID, "title", e.Text(v.Lang).Title)) + "\n"
}

// What to do next, for those who type commands.
var (
	nextChange = i18n.New("Next: change the lock, then go run . kata check{dir}. A hint: go run . kata hint{dir}")
	nextBegins = i18n.New("Next: go run . kata next{dir}, which begins exercise {id}")
)

// Screen shows one thing: the compiler's first error, why the lock cannot be
// judged, the first failure that shows, or what a pass means.
func (r Result) Screen(v View) string {
	text, next := r.Exercise.headline(v), v.say(nextChange, "dir", v.Dir)
	red, mistakes := r.Report.Red(), r.Exercise.mistakes(r.Report.Found)
	isSeen := len(red) > 0 && red[0].IsTold()
	after, more := r.Exercise.next()
	switch {
	case r.Report.Compile == nil && (isSeen || len(red) > 0 && r.Report.Cause == nil): // a cause says more than that a story was not told
		text += failed(v, red) + r.Report.printed(v)
	case len(mistakes) > 0:
		text += r.searched(v, mistakes[0]) + r.Report.printed(v)
	case !r.Passed:
		text += r.Report.stopped(v) + r.Report.printed(v)
	default:
		text += r.fixed(v) + "\n" + r.goesOn(v)
		next = v.say(nextBegins, "dir", v.Dir, "id", after.ID)
	}
	if v.Keys || r.Passed && !more {
		return text
	}
	return text + "\n" + v.wrapped(next)
}

var (
	scheduleBreaks = i18n.New("✗ a schedule breaks it")
	survivesOnly   = i18n.New("Your lock survives all {n} failures that are asked for. Those are schedules that somebody wrote. " +
		"A search through others found one that breaks your lock, and not ours.")
)

// searched is what a search has found in a lock that survives all the failures.
func (r Result) searched(v View, f judge.Found) string {
	return v.line(term.Red, v.say(scheduleBreaks)) + "\n" +
		v.wrapped(v.say(survivesOnly, "n", len(r.Exercise.Required()))) + "\n" + v.counterexample(f)
}

var (
	notCompiled = i18n.New("✗ it does not compile")
	yourLock    = i18n.New("✗ your lock {what}")
	happenedIn  = i18n.New("It happened in: {what}.")
)

// stopped says why the lock cannot be judged to the end.
func (r Report) stopped(v View) string {
	if r.Compile != nil {
		return v.line(term.Red, v.say(notCompiled)) + "\n" + r.Compile.Localize(v.Lang) + "\n"
	}
	c := r.Cause
	if c == nil {
		return ""
	}
	text := v.line(term.Red, v.say(yourLock, "what", i18n.Text(c.Kind))) + "\n" + v.wrapped(c.Text.Localize(v.Lang)) + "\n"
	if c.Trace != nil && len(c.Trace.Events) > 0 {
		text += v.picture(c.Trace, nil)
	}
	if c.During != "" {
		text += v.line(term.Dim, v.say(happenedIn, "what", c.During))
	}
	return text + v.wrapped(c.Next.Localize(v.Lang))
}

// mostPrinted is how many lines are shown of what a lock has printed.
const mostPrinted = 10

var hasPrinted = i18n.New("Your lock has printed:")

func (r Report) printed(v View) string {
	if r.Printed == "" {
		return ""
	}
	lines := strings.SplitAfterN(r.Printed, "\n", mostPrinted+1)
	text := strings.Join(lines[:min(mostPrinted, len(lines))], "")
	return "\n" + v.say(hasPrinted) + "\n" + strings.TrimSuffix(text, "\n") + "\n"
}

var (
	failureShows = i18n.New("✗ {failure}: {title}")
	outcomeIs    = i18n.New("{outcome}: {what}.")
	moreFailures = i18n.NewPlural("{n} more failure after this one.", "{n} more failures after this one.")
	notPlayed    = i18n.New("the story cannot be played to its end: {why}")
)

// failed draws the first of the failures that show.
func failed(v View, red []judge.Verdict) string {
	first := red[0]
	f, _ := failures.Find(first.Failure)
	text := v.line(term.Red, v.say(failureShows, "failure", f.ID, "title", i18n.Text(f.Title))) + "\n" +
		v.wrapped(v.say(i18n.Text(f.Story))) + "\n"
	if first.Trace != nil {
		text += v.picture(first.Trace, first.Findings)
	}
	text += v.verdict(v.say(outcomeIs, "outcome", i18n.Text(strings.ToUpper(first.Outcome)), "what", sentence(first)))
	if more := len(red) - 1; more > 0 {
		text += v.line(term.Dim, moreFailures.Of(more).Localize(v.Lang))
	}
	return text
}

// sentence is what broke. Where a scenario could not be played to its end, the
// reason is that the lock never did what the story waits for.
func sentence(v judge.Verdict) i18n.Message {
	if text, isWorlds := strings.CutPrefix(v.Sentence, "world: "); isWorlds {
		return notPlayed.Args("why", text)
	}
	return i18n.Text(v.Sentence).Args()
}

var hasPassed = i18n.New("✓ passed: it survives all {n} failures that are asked for, and {schedules} schedules of a search")

// fixed is what a pass means.
func (r Result) fixed(v View) string {
	head := v.say(hasPassed, "n", len(r.Exercise.Required()), "schedules", schedules(r.Report.Found))
	return v.line(term.Green, strings.TrimSuffix(v.wrapped(head), "\n")) + "\n" + r.Exercise.taught(v)
}

var (
	readAnswer = i18n.New("For the answer read {page}")
	beyondThat = i18n.New("Beyond what is asked for, in {where}: {what}")
)

// goesOn is what comes after a pass.
func (r Result) goesOn(v View) string {
	text := r.stillBreaks(v) + "\n" + r.Exercise.question(v) + v.line(term.Dim, v.say(readAnswer, "page", r.Exercise.Read))
	if c := r.Report.Cause; c != nil {
		text += "\n" + v.wrapped(v.say(beyondThat, "where", c.During, "what", c.Text))
	}
	return text
}

var (
	breaksNothing = i18n.New("What still breaks in your lock: nothing of the catalogue but {n} failures " +
		"that no lock with a lease can prevent.")
	breaksSome = i18n.New("What still breaks in your lock: {failures}; and {n} that no lock with a lease can prevent.")
	breaksMore = i18n.New("What still breaks in your lock: {failures}, and {more} more; and {n} that no " +
		"lock with a lease can prevent.")
)

// stillBreaks names what is not asked for yet and shows all the same.
func (r Result) stillBreaks(v View) string {
	broken := r.Report.which(func(v judge.Verdict) bool { return v.Outcome == failures.Broken.String() })
	inherent := len(r.Report.which(func(v judge.Verdict) bool { return v.Outcome == failures.Inherent.String() }))
	if len(broken) == 0 {
		return v.wrapped(v.say(breaksNothing, "n", inherent))
	}
	var named []string
	say := breaksSome
	for _, verdict := range broken[:min(3, len(broken))] {
		named = append(named, verdict.Failure)
	}
	if len(named) < len(broken) {
		say = breaksMore
	}
	return v.wrapped(v.say(say, "failures", strings.Join(named, ", "), "more", len(broken)-len(named), "n", inherent))
}
