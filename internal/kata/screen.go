package kata

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// View is how to draw a screen.
type View struct {
	Color term.Color
	Width int
	All   bool // long drawings, too, are whole
	Keys  bool // the reader presses keys instead of typing commands
	Lang  i18n.Language
	flag  string // that of the learner's folder
}

// prose is the greatest width of prose.
const prose = 100

// wrapped wraps prose into lines.
func (v View) wrapped(text string) string {
	return strings.Join(term.Wrap(text, min(v.Width, prose)), "\n") + "\n"
}

// say returns a text in the view's language.
func (v View) say(t i18n.Text, pairs ...any) string { return t.Localize(v.Lang, pairs...) }

// line returns a line in a style.
func (v View) line(style term.Style, text string) string { return v.Color.Paint(style, text) + "\n" }

// painted wraps prose and returns it in a style.
func (v View) painted(style term.Style, text string) string {
	return v.line(style, strings.TrimSuffix(v.wrapped(text), "\n"))
}

// picture draws a trace.
func (v View) picture(tr *trace.Trace, findings []oracle.Finding) string {
	return timeline.Text(tr, findings, timeline.Options{Color: v.Color, Width: v.Width, Language: v.Lang}) + "\n"
}

const (
	mostDrawn  = 40 // lines of a drawing
	firstDrawn = 10 // those that are always shown
)

var leftOut = i18n.New("⋮ {n} lines left out: go run . kata check --all{dir}")

// shortened leaves lines out of a long drawing: those after its first finding by a rule, and those long before.
func (v View) shortened(drawing string, broken i18n.Text) string {
	lines := strings.SplitAfter(strings.TrimRight(drawing, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	if v.All || len(lines) <= mostDrawn {
		return drawing
	}
	sign := v.say(rule, "rule", broken, "text", "")
	found := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, sign) })
	end := min(max(found+2, mostDrawn), len(lines))
	text, before := strings.Join(lines[:firstDrawn], ""), end-mostDrawn
	if before > 0 {
		text += v.line(term.Dim, v.say(leftOut, "n", before, "dir", v.flag))
	}
	text += strings.Join(lines[firstDrawn+before:end], "")
	if after := len(lines) - end; after > 0 {
		text += v.line(term.Dim, v.say(leftOut, "n", after, "dir", v.flag))
	}
	return text + "\n"
}

var exerciseHead = i18n.New("exercise {id}: {title}")

// headline returns the first line of every screen.
func (e Exercise) headline(v View) string {
	return v.line(term.Bold, v.say(exerciseHead, "id", e.ID, "title", e.Text(v.Lang).Title)) + "\n"
}

// What to type next.
var (
	nextChange = i18n.New("Next: change the lock, then go run . kata check{dir}. A hint: go run . kata hint{dir}")
	nextBegins = i18n.New("Next: go run . kata next{dir}, which begins exercise {id}")
)

// Screen shows one thing: the compiler's first error, why the lock cannot be judged, the clearest
// failure, or that it passed.
func (r Result) Screen(v View) string {
	v.flag = r.Folder.Flag
	text, next := r.Exercise.headline(v), v.say(nextChange, "dir", v.flag)
	red, mistakes := r.Exercise.red(r.Report), r.Exercise.mistakes(r.Report.Found)
	after, more := r.Exercise.next()
	switch {
	case r.Passed:
		text += r.fixed(v) + "\n" + r.goesOn(v)
		next = v.say(nextBegins, "dir", v.flag, "id", after.ID)
	case len(red) > 0:
		text += r.failed(v, red) + v.printed(r.Report)
	case len(mistakes) > 0:
		text += r.searched(v, mistakes[0]) + v.printed(r.Report)
	default:
		text += v.stopped(r.Report) + v.printed(r.Report)
	}
	if v.Keys || r.Passed && !more {
		return text
	}
	return text + "\n" + v.wrapped(next)
}

var rule = i18n.New("✗ {rule}: {text}")

// first returns the first line of a result: the rule, what happened, and where. Editors
// can open its file and line.
func (r Result) first(v View, what i18n.Message, line string) string {
	if line != "" {
		within, err := filepath.Rel(r.Folder.Root, r.Folder.Dir)
		if err != nil || !filepath.IsLocal(within) {
			within = r.Folder.Dir
		}
		what = apart.SentAt.Args("what", what, "line", path.Join(filepath.ToSlash(within), path.Base(line)))
	}
	return v.painted(term.Red, what.Localize(v.Lang))
}

var (
	scenarioIs   = i18n.New("Scenario {failure}: {steps}.")
	moreFailures = i18n.NewPlural("{n} more failure after this one.", "{n} more failures after this one.")
)

// failed shows the first of the failures that count against the lock. In normal use there is nothing to
// find out, so it shows the fix too.
func (r Result) failed(v View, red []failures.Cell) string {
	first := red[0]
	f, text := first.Failure, ""
	against, isBroken := first.Against()
	isBroken = isBroken && first.Outcome == failures.Broken
	headline := r.first(v, rule.Args("rule", first.Why(), "text", against.Text), first.Line)
	switch {
	case first.Cause != nil && !(isBroken && first.Cause.IsLeft()):
		text, isBroken = v.stop(first.Cause)+"\n", false
	case isBroken:
		text = headline + "\n"
	case first.Outcome == failures.NotPlayed:
		text = v.painted(term.Red, "… "+first.SentenceIn(v.Lang)) + "\n"
	default:
		text = v.painted(term.Red, "✗ "+first.SentenceIn(v.Lang)) + "\n"
	}
	if first.Trace != nil {
		text += v.wrapped(v.say(scenarioIs, "failure", f.ID, "steps", strings.Join(timeline.Scenario(first.Trace, v.Lang), " · "))) + "\n" +
			v.shortened(v.picture(first.Trace, first.Findings), i18n.Text(against.Rule))
	}
	if isBroken && first.Trace != nil { // a long drawing may have scrolled the first line away
		text += headline
	}
	if (f.Basic || f.Family == catalogue.Normal) && !against.Panics && first.Cause == nil {
		text += v.wrapped(i18n.Text(f.Fixed).Localize(v.Lang))
	}
	more := 0
	for _, c := range red[1:] {
		if !c.Passes() {
			more++
		}
	}
	if more > 0 {
		text += v.line(term.Dim, moreFailures.Of(more).Localize(v.Lang))
	}
	return text
}

var survivesOnly = i18n.New("Your lock survives all {n} failures that are asked for. A search through other schedules found one that " +
	"breaks your lock, and not ours.")

// searched shows a finding of the search in a lock that survives all failures.
func (r Result) searched(v View, f schedule.Found) string {
	return r.first(v, rule.Args("rule", ruleOf(f), "text", f.Text), f.Line) + "\n" +
		v.wrapped(v.say(survivesOnly, "n", len(r.Exercise.Required()))) + "\n" + v.counterexample(f)
}

var (
	yourLock  = i18n.New("✗ your lock {what}")
	notPlayed = i18n.New("… cannot be played here: your lock {what}")
)

// stop returns why a run did not end, and advice.
func (v View) stop(c *guard.Cause) string {
	say := yourLock
	if c.IsNotPlayed() {
		say = notPlayed
	}
	return v.line(term.Red, v.say(say, "what", c.Kind)) + "\n" + v.wrapped(c.Text.Localize(v.Lang)) + v.wrapped(c.Next.Localize(v.Lang))
}

// stopped returns why the lock could not be judged.
func (v View) stopped(r apart.Report) string {
	switch {
	case r.Compile != nil:
		return v.line(term.Red, "✗ "+v.say(r.Compile.Kind())) + "\n" + v.wrapped(r.Compile.Localize(v.Lang))
	case r.Cause != nil:
		return v.stop(r.Cause)
	}
	return ""
}

// mostPrinted is how many lines of the lock's output are shown.
const mostPrinted = 10

var hasPrinted = i18n.New("Your lock has printed:")

func (v View) printed(r apart.Report) string {
	if r.Printed == "" {
		return ""
	}
	lines := strings.SplitAfterN(r.Printed, "\n", mostPrinted+1)
	text := strings.Join(lines[:min(mostPrinted, len(lines))], "")
	return "\n" + v.say(hasPrinted) + "\n" + strings.TrimSuffix(text, "\n") + "\n"
}

var hasPassed = i18n.New("✓ passed: it survives all {n} failures that are asked for, and {schedules} schedules of a search")

// fixed returns the explanation after a pass.
func (r Result) fixed(v View) string {
	head := v.say(hasPassed, "n", len(r.Exercise.Required()), "schedules", schedules(r.Report.Found))
	return v.painted(term.Green, head) + "\n" + r.Exercise.taught(v) + "\n" + r.Progress.bar(v)
}

var readAnswer = i18n.New("For the answer read {page}")

// goesOn returns the next steps after a pass.
func (r Result) goesOn(v View) string {
	return r.stillBreaks(v) + v.differs(r.Report) + "\n" + r.Exercise.question(v) + v.line(term.Dim, v.say(readAnswer, "page", r.Exercise.Read))
}

var (
	breaksNothing = i18n.New("What still breaks in your lock: only {n} failures that no lock over one server can prevent.")
	breaksSome    = i18n.New("What still breaks in your lock: {failures}; and {n} that no lock over one server can prevent.")
	breaksMore    = i18n.New("What still breaks in your lock: {failures}, and {more} more; and {n} that no lock over one server can prevent.")
)

// stillBreaks names the failures that break the lock and are not required yet.
func (r Result) stillBreaks(v View) string {
	var broken []string
	limits := 0
	for _, c := range r.Report.Verdicts {
		switch c.Outcome {
		case failures.Broken:
			broken = append(broken, c.Failure.ID)
		case failures.Limit:
			limits++
		}
	}
	say, named := breaksSome, broken[:min(3, len(broken))]
	switch {
	case len(broken) == 0:
		say = breaksNothing
	case len(named) < len(broken):
		say = breaksMore
	}
	return v.wrapped(v.say(say, "failures", strings.Join(named, ", "), "more", len(broken)-len(named), "n", limits))
}
