package failures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// The texts of outcomes.
var (
	safeText                = i18n.New("SAFE from {rules} in this run.")
	safeGivenText           = i18n.New("SAFE from {rules} in this run. {what}.")
	givenByText             = i18n.New("{what} because {why}: that is {failure}")
	givenText               = i18n.New("{what}: the story takes that as given")
	headlineText            = i18n.New("{outcome}: {what}.")
	headlineSentText        = i18n.New("{outcome}: {what}, sent at {line}.")
	headlineSetText         = i18n.New("{outcome}: {what}. The key was set at {line}.")
	headlineLeaseText       = i18n.New("{outcome}: {what}. The key's lease was changed at {line}.")
	headlineSubscribeText   = i18n.New("{outcome}: {what}. SUBSCRIBE was sent at {line}.")
	headlineLastCommandText = i18n.New("{outcome}: {what}. The call's last command was sent at {line}.")
	noRuleBrokenText        = i18n.New("no rule is broken")
	nextRuleText            = i18n.New("{rules}, {rule}")
	lastRuleText            = i18n.New("{rules} and {rule}")
	limitText               = i18n.New("{outcome}. {who}")
	noticedText             = i18n.New("the hold is lost, and its owner is told; no two were inside")
	noticedTogetherText     = i18n.New("the hold is lost, and its owner is told; {first} and {second} were both inside from {from} to {until}, for {time}")
	brokenRuleText          = i18n.New("{rule}: {what}")
	notPlayedText           = i18n.New("cannot be played here: {why}")
)

func init() {
	for o := range outcomeIDs {
		i18n.Register(o.Word(), o.loud())
	}
}

// loud returns the outcome in capitals, for the head of a line.
func (o Outcome) loud() i18n.Text { return i18n.Text(strings.ToUpper(string(o.Word()))) }

// Headline returns the outcome in a sentence, which is printed above or below a run.
func (v Verdict) Headline() string { return v.HeadlineIn(i18n.English) }

// HeadlineIn returns the headline in a language.
func (v Verdict) HeadlineIn(l i18n.Language) string {
	switch f := v.Failure; v.Outcome {
	case Safe:
		return v.safeHeadline(l)
	case Limit:
		return limitText.Localize(l, "outcome", v.Outcome.loud(), "who", f.PreventedBy.Can().Args("command", "go run . "+f.Cure))
	}
	say, line := headlineText, v.At().Short()
	if line != "" {
		say = v.said()
	}
	return say.Localize(l, "outcome", v.Outcome.loud(), "what", v.SentenceIn(l), "line", line)
}

// said returns the headline for a verdict with a line: what the command at that line did.
func (v Verdict) said() i18n.Text {
	against, _ := v.Against()
	switch e := against.CommandIn(v.Trace); {
	case e.Command[0] == "SUBSCRIBE":
		return headlineSubscribeText
	case e.Effects.Include(trace.Installed) && (against.Rule == oracle.Leak || e.Step != against.Step):
		return headlineSetText
	case e.Step == against.Step:
		return headlineSentText
	case e.Effects.Include(trace.Leased, trace.Persisted) && against.Rule != oracle.Exclusion:
		return headlineLeaseText
	}
	return headlineLastCommandText
}

// Sentence returns the reason for the outcome in one line.
func (v Verdict) Sentence() string { return v.SentenceIn(i18n.English) }

// SentenceIn returns the sentence in a language.
func (v Verdict) SentenceIn(l i18n.Language) string {
	if v.Reason != "" {
		return v.Reason
	}
	switch v.Outcome {
	case Safe:
		return cmp.Or(v.given(l), noRuleBrokenText.Localize(l))
	case Noticed:
		return v.noticed(l)
	case NotApplicable, NotTested, Elsewhere:
		return v.Missing.Localize(l)
	case NotPlayed:
		return notPlayedText.Localize(l, "why", v.Missing)
	}
	if against, ok := v.Against(); ok {
		return brokenRuleText.Localize(l, "rule", i18n.Text(against.Rule), "what", against.Localize(l))
	}
	if v.Err != nil {
		return v.Err.Error()
	}
	return v.Outcome.Word().Localize(l)
}

// noticed returns that the owner of a hold was told of its loss, and which two were inside until then.
func (v Verdict) noticed(l i18n.Language) string {
	scenes := v.Trace.Scenes()
	at := slices.IndexFunc(scenes, func(s *trace.Scene) bool { return s.Event.Acquires() && len(s.Others(s.Event.Client)) > 0 })
	if at < 0 {
		return noticedText.Localize(l)
	}
	from, second := scenes[at].Event.At, scenes[at].Event.Client
	first := scenes[at].Others(second)[0]
	alone := slices.IndexFunc(scenes[at:], func(s *trace.Scene) bool { return s.Holds(first) == 0 || s.Holds(second) == 0 })
	until := v.Trace.End().Event.At
	if alone >= 0 {
		until = scenes[at+alone].Event.At
	}
	return noticedTogetherText.Localize(l, "first", first, "second", second,
		"from", term.Clock(from), "until", term.Clock(until), "time", term.Clock(until-from))
}

// At returns the line that sent the command with which the lock broke a rule; nil if none is known.
func (v Verdict) At() *trace.Source {
	against, ok := v.Against()
	if !ok || v.Outcome != Broken {
		return nil
	}
	return against.CommandIn(v.Trace).Source
}

// SourceOf returns the line of the lock that broke a rule: the line of the finding's command or panic, or else that of
// the last command before it of the same call or client.
func SourceOf(tr *trace.Trace, f oracle.Finding) (source trace.Source) {
	if known := f.CommandIn(tr).Source; known != nil {
		return *known
	}
	end := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Step == f.Step })
	if end < 0 {
		return source
	}
	broken := tr.Events[end]
	if broken.Kind == trace.Returned && broken.Source != nil {
		return *broken.Source
	}
	for _, e := range tr.Events[:end] {
		isMine := e.Client == f.Client && (broken.Call == 0 || e.Call == broken.Call)
		if e.Source != nil && isMine {
			source = *e.Source
		}
	}
	return source
}

// givenRuleTexts are the words for a rule that a story itself breaks.
var givenRuleTexts = map[oracle.Rule]i18n.Text{
	oracle.Exclusion: i18n.New("Two were inside"), oracle.Leak: i18n.New("A key stayed"), oracle.BoundedWait: i18n.New("A waiter was overtaken"),
	oracle.Deadlock: i18n.New("A client waited for a lock that no client held"), oracle.LossHidden: i18n.New("A loss stayed hidden"),
	oracle.HoldCount: i18n.New("Redis counted another number"), oracle.Watchdog: i18n.New("A watchdog went on"),
	oracle.EarlyLoss: i18n.New("A hold ended early"), oracle.Truth: i18n.New("A call returned what was not so"),
}

// safeHeadline names the rules that the failure is about, and what the story itself has broken.
func (v Verdict) safeHeadline(l i18n.Language) string {
	rules := ""
	for i, r := range v.Failure.Breaks {
		name := i18n.Text(r).Localize(l)
		switch last := len(v.Failure.Breaks) - 1; {
		case i == 0:
			rules = name
		case i < last:
			rules = nextRuleText.Localize(l, "rules", rules, "rule", name)
		default:
			rules = lastRuleText.Localize(l, "rules", rules, "rule", name)
		}
	}
	if given := v.given(l); given != "" {
		return safeGivenText.Localize(l, "rules", rules, "what", given)
	}
	return safeText.Localize(l, "rules", rules)
}

// given returns what the story itself has broken, and the failure that is about it; "" if it has broken
// nothing.
func (v Verdict) given(l i18n.Language) string {
	at := slices.IndexFunc(v.Findings, func(x oracle.Finding) bool { return x.Given })
	if at < 0 {
		return ""
	}
	what := givenRuleTexts[v.Findings[at].Rule]
	if about, isKnown := catalogue.Find(v.GivenBy); isKnown {
		return givenByText.Localize(l, "what", what, "why", i18n.Text(about.Title), "failure", about.ID)
	}
	return givenText.Localize(l, "what", what)
}

// Cause is a common reason of several failures that break a lock.
type Cause struct {
	Text     i18n.Text `json:"cause"` // a rule, or "the holder is not told of a loss in time"
	Failures []string  `json:"failures"`
}

var (
	causeText      = i18n.NewPlural("{n} failure: {cause}: {failures}", "{n} failures: {cause}: {failures}")
	panicText      = i18n.New("a call panics")
	hiddenLossText = i18n.New("the holder is not told of a loss in time")
)

// Localize returns a line: "5 failures: the holder is not told of a loss in time: renew-partition …".
func (c Cause) Localize(l i18n.Language) string {
	return causeText.Of(len(c.Failures), "cause", c.Text, "failures", strings.Join(c.Failures, " ")).Localize(l)
}

// Causes groups verdicts by cause. The cause with the most verdicts comes first.
func Causes(verdicts []Verdict) []Cause {
	var causes []Cause
	for _, v := range verdicts {
		text := v.Why()
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

// Why returns the rule that the lock broke. If the story takes its hold away, the cause of two
// clients inside is that the holder was not told.
func (v Verdict) Why() i18n.Text {
	against, ok := v.Against()
	switch {
	case !ok:
		return v.Outcome.Word()
	case against.Panics:
		return panicText
	case v.Failure.Loss && (against.Rule == oracle.Exclusion || against.Rule == oracle.LossHidden):
		return hiddenLossText
	}
	return i18n.Text(against.Rule)
}

// summary returns a line with the number of each outcome, and one for each cause of unexpected ones.
func summary(count map[Outcome]int, unexpected []Verdict) string {
	var counts []string
	for _, o := range []Outcome{Broken, Safe, Noticed, Limit, NotTested, NotPlayed, NotApplicable} {
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
