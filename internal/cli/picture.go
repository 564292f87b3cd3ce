package cli

import (
	"fmt"
	"os"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/texts"
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
func (a *app) picture(v failures.Verdict, c columns.Column, f format) (string, error) {
	if v.Trace == nil {
		return "", fmt.Errorf("there is nothing to draw: %s on %s is %s: %s", v.Failure.ID, c.Name(), v.Outcome, v.Sentence())
	}
	switch {
	case f.page:
		code, err := c.Code(a.sources)
		if err != nil {
			return "", err
		}
		return timeline.HTML(v.Trace, v.Findings, code, a.caption(v, c))
	}
	return timeline.SVG(v.Trace, v.Findings, a.caption(v, c)), nil
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

var pictureOf = texts.New("{failure}, on {stage}: {title}")

// caption is what stands above a run's picture.
func (a *app) caption(v failures.Verdict, c columns.Column) timeline.Caption {
	return timeline.Caption{
		ID:       v.Failure.ID + "-" + c.ID,
		Verdict:  strings.TrimRight(v.HeadlineIn(a.lang), ".。"),
		Tone:     v.Tone(),
		Subject:  a.say(pictureOf, "failure", texts.Text(v.Failure.Title), "stage", c.NameIn(a.lang), "title", c.TitleIn(a.lang)),
		Language: a.lang,
	}
}

// pictured are the stages whose pictures the documents show: the last that the
// failure breaks and the first that it no longer does, or the one of them that
// there is.
func pictured(f failures.Failure) (chosen []columns.Column) {
	shown := columns.Shown()
	broken, mended := columns.Turn(shown, f)
	for _, c := range []*columns.Column{broken, mended} {
		if c != nil {
			chosen = append(chosen, *c)
		}
	}
	if len(chosen) == 0 {
		chosen = append(chosen, columns.First(shown, f))
	}
	return chosen
}
