package cli

import (
	"fmt"
	"os"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/internal/stages"
)

// format is how show draws a run.
type format struct {
	json, svg, page bool
	html            string // where the page goes
}

func (f format) isPicture() bool { return f.svg || f.page }

// check refuses formats that exclude each other, and a picture of two runs.
func (f format) check(beforeAfter bool) error {
	chosen := 0
	for _, is := range []bool{f.json, f.svg, f.page} {
		if is {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return fmt.Errorf("--json, --svg and --html exclude each other")
	case beforeAfter && f.isPicture():
		return fmt.Errorf("a picture shows one run: --stage instead of --before-after")
	case f.page && f.html == "":
		return fmt.Errorf("--html is empty: name the file, or - for the standard output")
	}
	return nil
}

// picture is a run as SVG or a page.
func (a *app) picture(v failures.Verdict, s stages.Stage, f format) (string, error) {
	if v.Trace == nil {
		return "", fmt.Errorf("there is nothing to draw: %s on stage %d is %s: %s", v.Failure.ID, s.Number, v.Outcome, v.Sentence())
	}
	switch {
	case f.page:
		code, err := s.Code(a.sources)
		if err != nil {
			return "", err
		}
		return timeline.HTML(v.Trace, v.Findings, code, caption(v, s))
	}
	return timeline.SVG(v.Trace, v.Findings, caption(v, s)), nil
}

// put prints a picture, or writes a page to its file.
func (a *app) put(drawn string, f format) error {
	if !f.page || f.html == "-" {
		_, err := fmt.Fprint(a.out, drawn)
		return err
	}
	if err := os.WriteFile(f.html, []byte(drawn), 0o644); err != nil {
		return failedError{fmt.Sprintf("cannot write the page: %v", err)}
	}
	return nil
}

// caption is what stands above a run's picture.
func caption(v failures.Verdict, s stages.Stage) timeline.Caption {
	return timeline.Caption{
		ID:      fmt.Sprintf("%s-%d", v.Failure.ID, s.Number),
		Verdict: strings.TrimSuffix(v.Headline(), "."),
		Tone:    v.Tone(),
		Subject: fmt.Sprintf("%s, on stage %d: %s", v.Failure.Title, s.Number, s.Title),
	}
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
