package failures

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// Headline is the outcome in a sentence, as it stands above a run or at its end.
func (v Verdict) Headline() string {
	switch v.Outcome {
	case Safe:
		return fmt.Sprintf("SAFE in this run: %s.", v.given())
	}
	return fmt.Sprintf("%s: %s%s.", strings.ToUpper(v.Outcome.String()), v.Sentence(), v.at())
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
	return fmt.Sprintf(", sent at %s:%d", path.Base(source.File), source.Line)
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
