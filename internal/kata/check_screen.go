package kata

import (
	"path"
	"path/filepath"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Texts about the next command.
var (
	nextCheckText    = i18n.New("Next: change the lock, then go run . kata check{dir}. A hint: go run . kata hint{dir}")
	nextExerciseText = i18n.New("Next: go run . kata next{dir}, which begins exercise {id}")
)

// Screen shows one thing: the compiler's first error, why the lock cannot be judged, the clearest
// failure, or that it passed.
func (r CheckResult) Screen(v View) string {
	v.flag = r.Folder.Flag
	text, next := v.headline(r.Exercise), v.say(nextCheckText, "dir", v.flag)
	red, mistakes := r.red(), r.mistakes()
	after, last := r.Exercise.Next()
	switch {
	case r.Passed:
		text += r.fixed(v) + "\n" + r.goesOn(v)
		next = v.say(nextExerciseText, "dir", v.flag, "id", after.ID)
	case len(red) > 0:
		text += r.failed(v, red) + v.printed(r.Report)
	case len(mistakes) > 0:
		text += r.searched(v, mistakes[0]) + v.printed(r.Report)
	default:
		text += v.stopped(r.Report) + v.printed(r.Report)
	}
	if v.Keys || r.Passed && last != nil {
		return text
	}
	return text + "\n" + v.wrapped(next)
}

// first returns the first line of a result: the rule, what happened, and where. Editors
// can open its file and line.
func (r CheckResult) first(v View, what i18n.Message, line string) string {
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
	scenarioText     = i18n.New("Scenario {failure}: {steps}.")
	moreFailuresText = i18n.NewPlural("{n} more failure after this one.", "{n} more failures after this one.")
)

// showsFix reports whether a check shows the fix too: in normal use there is nothing to find out.
func showsFix(f catalogue.Failure) bool { return f.Basic || f.Family == catalogue.Normal }

// failed shows the first of the failures that count against the lock.
func (r CheckResult) failed(v View, red []failures.Cell) string {
	first := red[0]
	f, text := first.Failure, ""
	against, isBroken := first.Against()
	isBroken = isBroken && first.Outcome == failures.Broken
	headline := r.first(v, ruleText.Args("rule", first.Why(), "text", against.Text), first.Line)
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
		text += v.wrapped(v.say(scenarioText, "failure", f.ID, "steps", strings.Join(timeline.Scenario(first.Trace, v.Lang), " · "))) + "\n" +
			v.shortened(v.picture(first.Trace, first.Findings), i18n.Text(against.Rule))
	}
	if isBroken && first.Trace != nil { // a long drawing may have scrolled the first line away
		text += headline
	}
	if showsFix(f) && isBroken && !against.Panics {
		text += v.wrapped(i18n.Text(f.Fixed).Localize(v.Lang))
	}
	more := 0
	for _, c := range red[1:] {
		if !c.Passes() {
			more++
		}
	}
	if more > 0 {
		text += v.line(term.Dim, moreFailuresText.Of(more).Localize(v.Lang))
	}
	return text
}

var searchOnlyText = i18n.New("Your lock survives all {n} failures that are asked for. A search through other schedules found one that " +
	"breaks your lock, and not ours.")

// searched shows a finding of the search in a lock that survives all failures.
func (r CheckResult) searched(v View, f schedule.Found) string {
	return r.first(v, ruleText.Args("rule", ruleOf(f), "text", f.Text), f.Line) + "\n" +
		v.wrapped(v.say(searchOnlyText, "n", len(r.Exercise.Required()))) + "\n" + v.counterexample(f)
}

var passText = i18n.New("✓ passed: it survives all {n} failures that are asked for, and {schedules} schedules of a search")

// fixed returns the explanation after a pass.
func (r CheckResult) fixed(v View) string {
	head := v.say(passText, "n", len(r.Exercise.Required()), "schedules", schedules(r.Report.Found))
	return v.painted(term.Green, head) + "\n" + v.lesson(r.Exercise) + "\n" + v.bar(r.Progress)
}

var answerPageText = i18n.New("For the answer read {page}")

// goesOn returns the next steps after a pass.
func (r CheckResult) goesOn(v View) string {
	return r.stillBreaks(v) + v.differs(r.Report) + "\n" + v.question(r.Exercise) + v.line(term.Dim, v.say(answerPageText, "page", r.Exercise.Read))
}

var (
	onlyLimitsText  = i18n.New("What still breaks in your lock: only {n} failures that no lock over one server can prevent.")
	stillBrokenText = i18n.New("What still breaks in your lock: {failures}; and {n} that no lock over one server can prevent.")
	moreBrokenText  = i18n.New("What still breaks in your lock: {failures}, and {more} more; and {n} that no lock over one server can prevent.")
)

// stillBreaks names the failures that break the lock and are not required yet.
func (r CheckResult) stillBreaks(v View) string {
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
	say, named := stillBrokenText, broken[:min(3, len(broken))]
	switch {
	case len(broken) == 0:
		say = onlyLimitsText
	case len(named) < len(broken):
		say = moreBrokenText
	}
	return v.wrapped(v.say(say, "failures", strings.Join(named, ", "), "more", len(broken)-len(named), "n", limits))
}
