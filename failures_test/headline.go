package failures

import (
	"fmt"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
)

// Headline is the outcome in a sentence, as it stands above a run or at its end.
func (v Verdict) Headline() string {
	switch v.Outcome {
	case Safe:
		return fmt.Sprintf("SAFE in this run: %s.", v.given())
	case Inherent:
		return fmt.Sprintf("INHERENT: %s.", v.Sentence())
	}
	return fmt.Sprintf("%s: %s.", strings.ToUpper(v.Outcome.String()), v.Sentence())
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
func (v Verdict) given() string {
	if len(v.Findings) == 0 {
		return "no rule is broken"
	}
	var names []string
	for _, m := range v.Failure.Given {
		if oracle.Convicts(v.Findings, m) {
			names = append(names, string(m))
		}
	}
	return fmt.Sprintf("no rule is broken but %s, where the story begins", strings.Join(names, " and "))
}
