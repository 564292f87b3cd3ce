package kata

import (
	"strings"

	"lockkata/failures_test/guard"
	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

var (
	causeText     = i18n.New("✗ your lock {what}")
	notPlayedText = i18n.New("… cannot be played here: your lock {what}")
)

// stop returns why a run did not end, and advice.
func (v View) stop(c *guard.Cause) string {
	say := causeText
	if c.IsNotPlayed() {
		say = notPlayedText
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

var outputText = i18n.New("Your lock has printed:")

func (v View) printed(r apart.Report) string {
	if r.Printed == "" {
		return ""
	}
	lines := strings.SplitAfterN(r.Printed, "\n", mostPrinted+1)
	text := strings.Join(lines[:min(mostPrinted, len(lines))], "")
	return "\n" + v.say(outputText) + "\n" + strings.TrimSuffix(text, "\n") + "\n"
}

var (
	shortestWayText = i18n.New("The shortest way to break {property}, in {env}:")
	brokenRuleText  = i18n.New("BROKEN: {rule}: {what}.")
)

// counterexample draws a schedule that breaks a property.
func (v View) counterexample(f schedule.Found) string {
	text := v.line(term.Bold, v.say(shortestWayText, "property", schedule.NameIn(v.Lang, f.Property), "env", schedule.NameIn(v.Lang, f.Env)))
	if f.Trace != nil { // a lock that decides at random went another way
		text += v.shortened(v.picture(f.Trace, f.Findings), ruleOf(f))
	}
	return text + v.painted(term.Red, v.say(brokenRuleText, "rule", ruleOf(f), "what", f.Text))
}

// ruleOf returns the property's name in a picture.
func ruleOf(f schedule.Found) i18n.Text {
	if len(f.Findings) > 0 {
		return i18n.Text(f.Findings[0].Rule)
	}
	return i18n.Text(f.Property)
}

var unstableScheduleText = i18n.New("One schedule did not go the same way twice, so the search left it out: {schedule}. If two things happen at " +
	"one instant, such as a tick and the end of a context, either may come first: look at ctx.Err() before you send a command.")

// differs returns a warning if the lock decides at random.
func (v View) differs(r apart.Report) string {
	if r.Differs == "" {
		return ""
	}
	return v.wrapped(v.say(unstableScheduleText, "schedule", r.Differs))
}
