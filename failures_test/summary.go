package failures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// Cause is what several failures have in common that break a lock.
type Cause struct {
	Text     i18n.Text `json:"cause"` // nobody is told of a loss, or the rule that is broken
	Failures []string  `json:"failures"`
}

var (
	ofOneCause = i18n.NewPlural("{n} failure: {cause}: {failures}", "{n} failures: {cause}: {failures}")
	callPanics = i18n.New("a call panics")
	lossHidden = i18n.New("nobody is told of a loss")
)

// In is a line: "5 failures: nobody is told of a loss: renew-partition …".
func (c Cause) Localize(l i18n.Language) string {
	return ofOneCause.Of(len(c.Failures), "cause", c.Text, "failures", strings.Join(c.Failures, " ")).Localize(l)
}

// Causes groups verdicts, those of one cause together, the cause with the most of them first.
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

// cause is the rule that the lock broke. Where the story takes its hold away, the others are
// inside because nobody told it.
func (v Verdict) cause() i18n.Text {
	against, ok := v.Against()
	switch {
	case !ok:
		return v.Outcome.Word()
	case against.Monitor == oracle.Truth && strings.Contains(against.Text, "panic: "): // in each language
		return callPanics
	case v.Failure.Loss && (against.Monitor == oracle.Exclusion || against.Monitor == oracle.LossNoticed):
		return lossHidden
	}
	return i18n.Text(against.Monitor)
}

// summary is what a whole catalogue came to.
type summary struct {
	last  string // the failure that was added last
	count map[Outcome]int
	wrong []Verdict // what was not expected
}

func (s *summary) add(v Verdict, wrong bool) {
	if s.count == nil {
		s.count = map[Outcome]int{}
	}
	s.last = v.Failure.ID
	s.count[v.Outcome]++
	if wrong {
		s.wrong = append(s.wrong, Verdict{Failure: v.Failure, Outcome: v.Outcome, Findings: v.Findings})
	}
}

// String is a line for the counts, and one for each cause of what was not expected.
func (s *summary) String() string {
	var counts []string
	for _, o := range []Outcome{Broken, Safe, Noticed, Inherent, NotTested, NotPlayed, NotApplicable} {
		if s.count[o] > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", o.Word(), s.count[o]))
		}
	}
	text := strings.Join(counts, ", ")
	for _, cause := range Causes(s.wrong) {
		text += "\n" + cause.Localize(i18n.English)
	}
	return text
}
