package cli

import (
	"fmt"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/internal/stages"
)

// format is how show draws a run.
type format struct{ json, svg, mermaid bool }

// check refuses formats that exclude each other, and a picture of two runs.
func (f format) check(beforeAfter bool) error {
	chosen := 0
	for _, is := range []bool{f.json, f.svg, f.mermaid} {
		if is {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return fmt.Errorf("--json, --svg and --mermaid exclude each other")
	case beforeAfter && (f.svg || f.mermaid):
		return fmt.Errorf("a picture shows one run: --stage instead of --before-after")
	}
	return nil
}

// picture is a run as SVG or Mermaid.
func picture(v failures.Verdict, s stages.Stage, f format) (string, error) {
	if v.Trace == nil {
		return "", fmt.Errorf("there is nothing to draw: %s on stage %d is %s: %s", v.Failure.ID, s.Number, v.Outcome, v.Sentence())
	}
	if f.mermaid {
		return timeline.Mermaid(v.Trace, v.Findings), nil
	}
	return timeline.SVG(v.Trace, v.Findings, caption(v, s)), nil
}

// caption is what stands above a run's picture.
func caption(v failures.Verdict, s stages.Stage) timeline.Caption {
	c := timeline.Caption{
		ID:      fmt.Sprintf("%s-%d", v.Failure.ID, s.Number),
		Verdict: strings.TrimSuffix((&app{}).verdict(v), "."),
		Tone:    timeline.Bad,
		Subject: fmt.Sprintf("%s, on stage %d: %s", v.Failure.Title, s.Number, s.Title),
	}
	switch v.Outcome {
	case failures.Safe:
		c.Tone = timeline.Good
	case failures.Noticed, failures.Inherent:
		c.Tone = timeline.Fair
	}
	return c
}

// pictured are the stages whose pictures the documents show: the last that the
// failure breaks and the first that it no longer does, or the one of them that
// there is.
func pictured(f failures.Failure) []stages.Stage {
	last, fixed := lastBroken(f)
	var chosen []stages.Stage
	for _, i := range []int{last, fixed} {
		if i >= 0 {
			chosen = append(chosen, stages.All[i])
		}
	}
	if len(chosen) == 0 {
		chosen = append(chosen, stages.All[firstApplicable(f)])
	}
	return chosen
}
