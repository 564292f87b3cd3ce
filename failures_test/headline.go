package failures

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// What is said of an outcome.
var (
	safeInThisRun = texts.New("SAFE in this run: {what}.")
	judged        = texts.New("{outcome}: {what}.")
	judgedAt      = texts.New("{outcome}: {what}, sent at {line}.")
	nothingBroken = texts.New("no rule is broken")
	onlyGiven     = texts.New("no rule is broken but {rules}, where the story begins")
	andRule       = texts.New("{rules} and {rule}")
	toldInTime    = texts.New("the hold is lost, and its owner is told in time")
	ruleBroken    = texts.New("{rule}: {what}")
)

func init() {
	for _, o := range []Outcome{Broken, Safe, Noticed, Inherent, NotApplicable, Elsewhere, NotTold, NotPlayed} {
		texts.Know(o.Word(), o.loud())
	}
	for _, f := range All {
		texts.Know(texts.Text(f.Family), texts.Text(f.Title), texts.Text(f.Story), texts.Text(f.Fixed), texts.Text(f.Live))
	}
	texts.Know(texts.Text(FixedLease), texts.Text(Beside))
}

// loud is the outcome at the head of a line.
func (o Outcome) loud() texts.Text { return texts.Text(strings.ToUpper(string(o.Word()))) }

// Headline is the outcome in a sentence, as it stands above a run or at its end.
func (v Verdict) Headline() string { return v.HeadlineIn(texts.English) }

// HeadlineIn is the headline in a language.
func (v Verdict) HeadlineIn(l texts.Language) string {
	if v.Outcome == Safe {
		return safeInThisRun.In(l, "what", v.given(l))
	}
	say := judged
	at := v.at()
	if at != "" {
		say = judgedAt
	}
	return say.In(l, "outcome", v.Outcome.loud(), "what", v.SentenceIn(l), "line", at)
}

// Sentence says in one line what happened.
func (v Verdict) Sentence() string { return v.SentenceIn(texts.English) }

// SentenceIn is the sentence in a language.
func (v Verdict) SentenceIn(l texts.Language) string {
	switch v.Outcome {
	case Safe:
		return nothingBroken.In(l)
	case Noticed:
		return toldInTime.In(l)
	case NotApplicable, NotTold:
		return v.Missing.In(l)
	}
	if against, ok := v.Against(); ok {
		return ruleBroken.In(l, "rule", texts.Text(against.Monitor), "what", against.In(l))
	}
	if v.Err != nil {
		return v.Err.Error()
	}
	return v.Outcome.Word().In(l)
}

// at is the line that sent the command for which the lock is broken; "" if it was none.
func (v Verdict) at() string {
	against, ok := v.Against()
	if !ok || v.Outcome != Broken && v.Outcome != Inherent {
		return ""
	}
	at := slices.IndexFunc(v.Trace.Events, func(e world.Event) bool { return e.Step == against.Step && e.Source != nil })
	if at < 0 {
		return ""
	}
	source := v.Trace.Events[at].Source
	return fmt.Sprintf("%s:%d", path.Base(source.File), source.Line)
}

// Tone is the colour of a verdict in pictures and pages.
func (v Verdict) Tone() timeline.Tone {
	switch v.Outcome {
	case Safe:
		return timeline.Good
	case Noticed, Inherent:
		return timeline.Fair
	}
	return timeline.Bad
}

// given says that no rule is broken, but for those that the story itself breaks.
func (v Verdict) given(l texts.Language) string {
	rules := ""
	for _, m := range v.Failure.Given {
		switch name := texts.Text(m).In(l); {
		case !oracle.Convicts(v.Findings, m):
		case rules == "":
			rules = name
		default:
			rules = andRule.In(l, "rules", rules, "rule", name)
		}
	}
	if rules == "" {
		return nothingBroken.In(l)
	}
	return onlyGiven.In(l, "rules", rules)
}
