package cli

import (
	"fmt"
	"os"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline/svg"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

// format is how show draws a run.
type format struct {
	json, svg, page bool
	html            string // where the page goes
}

func (f format) isPicture() bool { return f.svg || f.page }

var (
	oneRun      = i18n.New("a picture shows one run: give --stage in place of --before-after")
	noFile      = i18n.New("--html is empty: name the file, or - for the standard output")
	nothingSeen = i18n.New("there is nothing to draw: {failure} on {stage} is {outcome}: {what}")
	notWritten  = i18n.New("cannot write the page: {error}")
)

// check refuses formats that exclude each other, and a picture of two runs.
func (f format) check(beforeAfter bool) error {
	switch {
	case f.json && f.isPicture(), f.svg && f.page:
		return exclude("--json", "--svg", "--html")
	case beforeAfter && f.isPicture():
		return oneRun.Args()
	case f.page && f.html == "":
		return noFile.Args()
	}
	return nil
}

// picture prints a run as SVG or a page, or writes the page to its file.
func (a *app) picture(v failures.Verdict, c stages.Stage, f format) error {
	if v.Trace == nil {
		return nothingSeen.Args("failure", v.Failure.ID, "stage", c.NameText(), "outcome", v.Outcome.Word(), "what", v.SentenceIn(a.lang))
	}
	drawn := svg.Draw(v.Trace, v.Findings, a.caption(v, c))
	if f.page {
		code, err := c.Code(a.sources)
		if err != nil {
			return err
		}
		if drawn, err = page.Run(v, a.caption(v, c).Subject, code, a.lang); err != nil {
			return err
		}
	}
	if !f.page || f.html == "-" {
		_, err := fmt.Fprint(a.out, drawn)
		return err
	}
	if err := os.WriteFile(f.html, []byte(drawn), 0o644); err != nil {
		return failedError{notWritten.Args("error", err)}
	}
	return nil
}

var pictureOf = i18n.New("{failure}, on {stage}: {title}")

// caption is what stands above a run's picture.
func (a *app) caption(v failures.Verdict, c stages.Stage) svg.Caption {
	return svg.Caption{
		ID:       v.Failure.ID + "-" + c.ID,
		Verdict:  strings.TrimRight(v.HeadlineIn(a.lang), ".。"),
		Tone:     v.Tone(),
		Subject:  a.say(pictureOf, "failure", i18n.Text(v.Failure.Title), "stage", c.NameIn(a.lang), "title", c.TitleIn(a.lang)),
		Language: a.lang,
	}
}
