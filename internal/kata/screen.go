package kata

import (
	"fmt"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// View is how a screen is drawn.
type View struct {
	Color term.Color
	Width int
	Keys  bool   // it is read by somebody who presses keys, not types commands
	Dir   string // " --dir …" where the commands need it
}

// prose is the widest that sentences are set.
const prose = 100

// wrapped are the lines of some sentences.
func (v View) wrapped(text string) string {
	return strings.Join(term.Wrap(text, min(v.Width, prose)), "\n") + "\n"
}

// line is a line in a style.
func (v View) line(style term.Style, text string) string { return v.Color.Paint(style, text) + "\n" }

// verdict is a sentence about what is broken.
func (v View) verdict(text string) string {
	return v.line(term.Red, strings.TrimSuffix(v.wrapped(text), "\n"))
}

func (v View) picture(trace *world.Trace, findings []oracle.Finding) string {
	return timeline.Text(trace, findings, timeline.Options{Color: v.Color, Width: v.Width}) + "\n"
}

// headline is the line above every screen.
func (e Exercise) headline(v View) string {
	return v.line(term.Bold, fmt.Sprintf("exercise %s: %s", e.ID, e.Title)) + "\n"
}

// Screen shows one thing: the compiler's first error, why the lock cannot be
// judged, the first failure that shows, or what a pass means.
func (r Result) Screen(v View) string {
	text, next := r.Exercise.headline(v), fmt.Sprintf("change the lock, then go run . kata check%s. A hint: go run . kata hint%s", v.Dir, v.Dir)
	red, mistakes := r.Report.Red(), r.Exercise.mistakes(r.Report.Found)
	isSeen := slices.ContainsFunc(red, func(v judge.Verdict) bool { return v.Outcome != failures.NotTold.String() })
	after, more := r.Exercise.next()
	switch {
	case r.Report.Compile == nil && (isSeen || len(red) > 0 && r.Report.Cause == nil): // a cause says more than that a story was not told
		text += failed(v, red) + r.Report.printed()
	case len(mistakes) > 0:
		text += r.searched(v, mistakes[0]) + r.Report.printed()
	case !r.Passed:
		text += r.Report.stopped(v) + r.Report.printed()
	default:
		text += r.fixed(v) + "\n" + r.goesOn(v)
		next = fmt.Sprintf("go run . kata next%s, which begins exercise %s", v.Dir, after.ID)
	}
	if v.Keys || r.Passed && !more {
		return text
	}
	return text + "\n" + v.wrapped("Next: "+next)
}

// searched is what a search has found in a lock that survives all the failures.
func (r Result) searched(v View, f judge.Found) string {
	return v.line(term.Red, "✗ a schedule breaks it") + "\n" +
		v.wrapped(fmt.Sprintf("Your lock survives all %d failures that are asked for. Those are schedules that somebody wrote. "+
			"A search through others found one that breaks your lock, and not ours.", len(r.Exercise.Required()))) + "\n" + v.counterexample(f)
}

// stopped says why the lock cannot be judged to the end.
func (r Report) stopped(v View) string {
	if r.Compile != nil {
		return v.line(term.Red, "✗ it does not compile") + "\n" + r.Compile.Error() + "\n"
	}
	c := r.Cause
	if c == nil {
		return ""
	}
	text := v.line(term.Red, "✗ your lock "+c.Kind) + "\n" + v.wrapped(c.Text) + "\n"
	if c.Trace != nil && len(c.Trace.Events) > 0 {
		text += v.picture(c.Trace, nil)
	}
	if c.During != "" {
		text += v.line(term.Dim, "It happened in: "+c.During+".")
	}
	return text + v.wrapped(c.Next)
}

// mostPrinted is how many lines are shown of what a lock has printed.
const mostPrinted = 10

func (r Report) printed() string {
	if r.Printed == "" {
		return ""
	}
	lines := strings.SplitAfterN(r.Printed, "\n", mostPrinted+1)
	text := strings.Join(lines[:min(mostPrinted, len(lines))], "")
	return "\nYour lock has printed:\n" + strings.TrimSuffix(text, "\n") + "\n"
}

// failed draws the first of the failures that show.
func failed(v View, red []judge.Verdict) string {
	first := red[0]
	f, _ := failures.Find(first.Failure)
	text := v.line(term.Red, fmt.Sprintf("✗ %s: %s", f.ID, f.Title)) + "\n" + v.wrapped(f.Story) + "\n"
	if first.Trace != nil {
		text += v.picture(first.Trace, first.Findings)
	}
	text += v.verdict(strings.ToUpper(first.Outcome) + ": " + sentence(first) + ".")
	if more := len(red) - 1; more > 0 {
		text += v.line(term.Dim, term.Count(more, "more failure")+" after this one.")
	}
	return text
}

// sentence is what broke. Where a scenario could not be played to its end, the
// reason is that the lock never did what the story waits for.
func sentence(v judge.Verdict) string {
	if text, isWorlds := strings.CutPrefix(v.Sentence, "world: "); isWorlds {
		return "the story cannot be played to its end: " + text
	}
	return v.Sentence
}

// fixed is what a pass means.
func (r Result) fixed(v View) string {
	head := fmt.Sprintf("✓ passed: it survives all %d failures that are asked for, and %d schedules of a search", len(r.Exercise.Required()), schedules(r.Report.Found))
	return v.line(term.Green, strings.TrimSuffix(v.wrapped(head), "\n")) + "\n" + r.Exercise.taught(v)
}

// goesOn is what comes after a pass.
func (r Result) goesOn(v View) string {
	text := r.stillBreaks(v) + "\n" + r.Exercise.question(v) + v.line(term.Dim, "For the answer read "+r.Exercise.Read)
	if c := r.Report.Cause; c != nil {
		text += "\n" + v.wrapped(fmt.Sprintf("Beyond what is asked for, in %s: %s", c.During, c.Text))
	}
	return text
}

// stillBreaks names what is not asked for yet and shows all the same.
func (r Result) stillBreaks(v View) string {
	broken := r.Report.which(func(v judge.Verdict) bool { return v.Outcome == failures.Broken.String() })
	inherent := len(r.Report.which(func(v judge.Verdict) bool { return v.Outcome == failures.Inherent.String() }))
	if len(broken) == 0 {
		return v.wrapped(fmt.Sprintf("What still breaks in your lock: nothing of the catalogue but %d failures that no lock with a lease can prevent.", inherent))
	}
	var named []string
	for _, verdict := range broken[:min(3, len(broken))] {
		named = append(named, verdict.Failure)
	}
	if more := len(broken) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return v.wrapped(fmt.Sprintf("What still breaks in your lock: %s; and %d that no lock with a lease can prevent.", strings.Join(named, ", "), inherent))
}
