package failures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// The texts of outcomes.
var (
	safeInThisRun = i18n.New("SAFE in this run: {what}.")
	judged        = i18n.New("{outcome}: {what}.")
	judgedAt      = i18n.New("{outcome}: {what}, sent at {line}.")
	nothingBroken = i18n.New("no rule is broken")
	onlyGiven     = i18n.New("only {rules} is broken, and this story takes that as given")
	andRule       = i18n.New("{rules} and {rule}")
	toldInTime    = i18n.New("the hold is lost, and its owner is told in time")
	ruleBroken    = i18n.New("{rule}: {what}")
)

func init() {
	for o := range outcomeIDs {
		i18n.Register(o.Word(), o.loud())
	}
	for _, f := range Catalogue {
		i18n.Register(i18n.Text(f.Family), i18n.Text(f.Title), i18n.Text(f.Story), i18n.Text(f.Fixed), i18n.Text(f.Live))
	}
	i18n.Register(i18n.Text(FixedLease), i18n.Text(Beside), i18n.Text(BesideRenewed), i18n.Text(Crowded), i18n.Text(Nested), i18n.Text(Both))
}

// loud returns the outcome in capitals, for the head of a line.
func (o Outcome) loud() i18n.Text { return i18n.Text(strings.ToUpper(string(o.Word()))) }

// Headline returns the outcome in a sentence, which is printed above or below a run.
func (v Verdict) Headline() string { return v.HeadlineIn(i18n.English) }

// HeadlineIn returns the headline in a language.
func (v Verdict) HeadlineIn(l i18n.Language) string {
	if v.Outcome == Safe {
		return safeInThisRun.Localize(l, "what", v.given(l))
	}
	say := judged
	at := v.at()
	if at != "" {
		say = judgedAt
	}
	return say.Localize(l, "outcome", v.Outcome.loud(), "what", v.SentenceIn(l), "line", at)
}

// Sentence returns the reason for the outcome in one line.
func (v Verdict) Sentence() string { return v.SentenceIn(i18n.English) }

// SentenceIn returns the sentence in a language.
func (v Verdict) SentenceIn(l i18n.Language) string {
	switch v.Outcome {
	case Safe:
		return nothingBroken.Localize(l)
	case Noticed:
		return toldInTime.Localize(l)
	case NotApplicable, NotTested:
		return v.Missing.Localize(l)
	}
	if against, ok := v.Against(); ok {
		return ruleBroken.Localize(l, "rule", i18n.Text(against.Monitor), "what", against.Localize(l))
	}
	if v.Err != nil {
		return v.Err.Error()
	}
	return v.Outcome.Word().Localize(l)
}

// at returns the line that sent the command with which the lock broke a rule, or "".
func (v Verdict) at() string {
	against, ok := v.Against()
	if !ok || v.Outcome != Broken && v.Outcome != Inherent {
		return ""
	}
	source, at := SourceOf(v.Trace, against)
	if at.Step != against.Step {
		return ""
	}
	return source.Short()
}

// SourceOf returns the line of the lock that broke a rule: the line that sent the command which broke
// it, or else the last command before it of the same call or client. The event is that command; its
// Source is nil if no line is known.
func SourceOf(tr *trace.Trace, f oracle.Finding) (source trace.Source, at trace.Event) {
	end := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Step == f.Step })
	if end < 0 {
		return source, at
	}
	broken := tr.Events[end]
	for _, e := range tr.Events[:end+1] {
		isMine := e.Step == f.Step || e.Client == f.Client && (broken.Call == 0 || e.Call == broken.Call)
		if e.Source != nil && isMine {
			source, at = *e.Source, e
		}
	}
	return source, at
}

// given returns a sentence for a safe lock, with the rules that the story itself breaks.
func (v Verdict) given(l i18n.Language) string {
	rules := ""
	for _, m := range v.Failure.Given {
		switch name := i18n.Text(m).Localize(l); {
		case !oracle.Violates(v.Findings, m):
		case rules == "":
			rules = name
		default:
			rules = andRule.Localize(l, "rules", rules, "rule", name)
		}
	}
	if rules == "" {
		return nothingBroken.Localize(l)
	}
	return onlyGiven.Localize(l, "rules", rules)
}

// Cause is a common reason of several failures that break a lock.
type Cause struct {
	Text     i18n.Text `json:"cause"` // a rule, or "the holder is not told of a loss"
	Failures []string  `json:"failures"`
}

var (
	ofOneCause = i18n.NewPlural("{n} failure: {cause}: {failures}", "{n} failures: {cause}: {failures}")
	callPanics = i18n.New("a call panics")
	lossHidden = i18n.New("the holder is not told of a loss")
)

// Localize returns a line: "5 failures: the holder is not told of a loss: renew-partition …".
func (c Cause) Localize(l i18n.Language) string {
	return ofOneCause.Of(len(c.Failures), "cause", c.Text, "failures", strings.Join(c.Failures, " ")).Localize(l)
}

// Causes groups verdicts by cause. The cause with the most verdicts comes first.
func Causes(verdicts []Verdict) []Cause {
	var causes []Cause
	for _, v := range verdicts {
		text := v.cause()
		at := slices.IndexFunc(causes, func(c Cause) bool { return c.Text == text })
		if at < 0 {
			at = len(causes)
			causes = append(causes, Cause{Text: text})
		}
		causes[at].Failures = append(causes[at].Failures, v.Failure.ID)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(len(b.Failures), len(a.Failures)) })
	return causes
}

// cause returns the rule that the lock broke. If the story takes its hold away, the cause of two
// clients inside is that the holder was not told.
func (v Verdict) cause() i18n.Text {
	against, ok := v.Against()
	switch {
	case !ok:
		return v.Outcome.Word()
	case against.Panics:
		return callPanics
	case v.Failure.Loss && (against.Monitor == oracle.Exclusion || against.Monitor == oracle.LossHidden):
		return lossHidden
	}
	return i18n.Text(against.Monitor)
}

// summary returns a line with the number of each outcome, and one for each cause of unexpected ones.
func summary(count map[Outcome]int, unexpected []Verdict) string {
	var counts []string
	for _, o := range []Outcome{Broken, Safe, Noticed, Inherent, NotTested, NotPlayed, NotApplicable} {
		if count[o] > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", o.Word(), count[o]))
		}
	}
	text := strings.Join(counts, ", ")
	for _, cause := range Causes(unexpected) {
		text += "\n" + cause.Localize(i18n.English)
	}
	return text
}
