package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/timeline/svg"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) showCommand() *cobra.Command {
	var stage, edit string
	var beforeAfter, steps bool
	var as struct {
		json, svg bool
		html      string
	}
	cmd := &cobra.Command{
		Use:   "show FAILURE",
		Short: "Draw a failure, step by step",
		Long: "show draws a failure as a timeline: a lane for each client, the keys in Redis with their " +
			"owner and lease, the ledger, and the line of the lock that sent each command. Without " +
			"--stage it takes the last stage that the failure breaks.",
		Example: "go run . show check-then-delete",
		Args:    words(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, ok := catalogue.Find(args[0])
			if !ok {
				return suggest(noFailure.Args("name", strconv.Quote(args[0])), args[0], failureIDs())
			}
			of := locksOf(f)
			asked, err := stages.FindLock(stage)
			if !f.OnServers() && (steps || err == nil && asked.Hidden) {
				of = stages.All()
			}
			chosen := beforeAndAfter(of, f)
			switch {
			case stage != "" && err != nil:
				return err
			case cmd.Flags().Changed("edit"):
				return a.showEdited(cmd.Context(), f, asked, edit, as.svg)
			case stage != "":
				chosen = []stages.Stage{asked}
			case !beforeAfter:
				chosen = chosen[:1]
			case len(chosen) < 2:
				return noneFixes.Args("failure", f.ID, "stage", chosen[0].ID)
			}
			g, err := judgeAll(cmd.Context(), []catalogue.Failure{f}, chosen, a.here, 1)
			switch {
			case err != nil:
				return err
			case as.json:
				return a.showJSON(g)
			case as.svg, cmd.Flags().Changed("html"):
				err = a.showPicture(g, as.svg, as.html)
			default:
				a.show(g, of)
			}
			return cmp.Or(err, a.surprises(g))
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "the stage to run it on")
	cmd.Flags().StringVar(&edit, "edit", "", "run the stage's lock with an edit, such as unlock-by-delex; an unknown `NAME` lists all")
	cmd.Flags().BoolVar(&beforeAfter, "before-after", false, "the last stage that it breaks, then the first that it does not")
	cmd.Flags().BoolVar(&steps, "steps", false, "include the steps from stage 5 to stage 6")
	cmd.Flags().BoolVar(&as.json, "json", false, "print the trace and the findings as JSON")
	cmd.Flags().BoolVar(&as.svg, "svg", false, "draw it as a picture: SVG")
	cmd.Flags().StringVar(&as.html, "html", "", "draw it as a page to step through, into this `FILE`; - is the standard output")
	cmd.MarkFlagsMutuallyExclusive("stage", "before-after")
	cmd.MarkFlagsMutuallyExclusive("json", "svg", "html")
	cmd.MarkFlagsMutuallyExclusive("json", "html", "edit")
	cmd.MarkFlagsMutuallyExclusive("svg", "html", "before-after")
	return cmd
}

func failureIDs() (ids []string) {
	for _, f := range catalogue.Everything {
		ids = append(ids, f.ID)
	}
	return ids
}

var (
	noFailure   = i18n.New("there is no failure {name}")
	noneFixes   = i18n.New("no stage fixes {failure}, so there is no before and after: go run . show {failure} --stage {stage}")
	titled      = i18n.New("{name}: {what}")
	fixedBy     = i18n.New("Fixed by: {what}")
	onStage     = i18n.New("On {stage}, {title}:")
	fixedAt     = i18n.New("That is {stage}: go run . diff {id}")
	legendLanes = i18n.New("│ inside   ║ two are inside")
	legendStill = i18n.New("░ stands still")
	givenMark   = i18n.New("(given)")
	legendGiven = i18n.New("{mark} the story itself breaks it: another failure is about that")
	legendNone  = i18n.New("{value} is in no key of the lock")
	legendOwner = i18n.New("A1 is A's first hold: our mark, not the value in Redis")
	legendLine  = i18n.New("mutex.go:1 is the line that sent the command")
)

// locksOf returns the locks on which a failure is shown.
func locksOf(f catalogue.Failure) []stages.Stage {
	switch f.Family {
	case catalogue.Replication:
		return stages.OfServers()[:2]
	case catalogue.RedLock:
		return stages.OfServers()[2:]
	}
	return stages.Public()
}

// beforeAndAfter returns the last lock that the failure breaks and the first after it that it does not, or
// only one of them. If the failure breaks none it returns the first to which it applies.
func beforeAndAfter(of []stages.Stage, f catalogue.Failure) []stages.Stage {
	broken, fixed := stages.FixedBy(of, f)
	switch {
	case broken == nil:
		return []stages.Stage{stages.First(of, f)}
	case fixed == nil:
		return []stages.Stage{*broken}
	}
	return []stages.Stage{*broken, *fixed}
}

// show draws a failure on some of the stages.
func (a *app) show(g grid, of []stages.Stage) {
	a.askForRoom()
	for i, v := range g.rows[0] {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.showOne(v, g.columns[i], i == 0, of)
	}
}

func (a *app) showOne(v failures.Verdict, c stages.Stage, withStory bool, of []stages.Stage) {
	f := v.Failure
	if withStory {
		for _, text := range []string{
			a.say(titled, "name", a.color.Paint(term.Bold, f.ID), "what", i18n.Text(f.Title)), a.say(i18n.Text(f.Story)),
		} {
			a.prose("", 0, text)
			fmt.Fprintln(a.out)
		}
	}
	fmt.Fprintln(a.out, a.color.Paint(term.Bold, a.say(onStage, "stage", c.NameText(), "title", c.TitleIn(a.lang))))
	if v.Trace == nil {
		fmt.Fprintln(a.out, a.say(titled, "name", v.Outcome.Word(), "what", v.SentenceIn(a.lang)))
		return
	}
	picture := a.draw(v.Trace, v.Findings)
	a.heading(markFor(v.Outcome).style, v.HeadlineIn(a.lang))
	if withStory && v.Outcome != failures.Safe {
		a.prose("", 0, a.say(fixedBy, "what", i18n.Text(f.Fixed)))
		if _, fixed := stages.FixedBy(of, f); fixed != nil && fixed.Before != "" {
			fmt.Fprintln(a.out, a.say(fixedAt, "stage", fixed.NameText(), "id", fixed.ID))
		}
	}
	a.legend(picture)
}

// draw draws a run and returns the picture.
func (a *app) draw(tr *trace.Trace, findings []oracle.Finding) string {
	options := timeline.Options{Color: a.color, Width: a.width, Language: a.lang}
	picture := timeline.Text(tr, findings, options)
	fmt.Fprintln(a.out, picture)
	return picture
}

// unstored matches a client's value that Redis has not stored.
var unstored = regexp.MustCompile(`\b[A-Z]\?`)

// sourceLine matches the line of a lock that sent a command.
var sourceLine = regexp.MustCompile(`\.go:\d`)

// legend explains the signs in a picture.
func (a *app) legend(picture string) {
	signs := []string{a.say(legendLanes)}
	if strings.Contains(picture, "░") {
		signs = append(signs, a.say(legendStill))
	}
	if value := unstored.FindString(picture); value != "" {
		signs = append(signs, a.say(legendNone, "value", value))
	}
	if mark := a.say(givenMark); strings.Contains(picture, mark) {
		signs = append(signs, a.say(legendGiven, "mark", mark))
	}
	signs = append(signs, a.say(legendOwner))
	if sourceLine.MatchString(picture) { // a worker's commands have none
		signs = append(signs, a.say(legendLine))
	}
	line := ""
	for _, sign := range signs {
		if line != "" && term.Columns(line+gap+sign) > a.width {
			fmt.Fprintln(a.out, a.color.Paint(term.Dim, line))
			line = ""
		}
		line = strings.TrimPrefix(line+gap+sign, gap)
	}
	fmt.Fprintln(a.out, a.color.Paint(term.Dim, line))
}

// gap is the space between two signs of a legend.
const gap = "   "

func (a *app) showJSON(g grid) error {
	type jsonRun struct {
		Failure  string           `json:"failure"`
		Subject  string           `json:"subject"`
		Outcome  string           `json:"outcome"`
		Sentence string           `json:"sentence"`
		Findings []oracle.Finding `json:"findings"`
		Trace    *trace.Trace     `json:"trace"`
	}
	var runs []jsonRun
	for _, v := range g.rows[0] {
		runs = append(runs, jsonRun{v.Failure.ID, v.Subject, v.Outcome.String(), v.Sentence(), v.Findings, v.Trace})
	}
	return a.printJSON(runs)
}

var (
	nothingSeen = i18n.New("there is nothing to draw: {failure} on {stage} is {outcome}: {what}")
	pictureOf   = i18n.New("{failure}, on {stage}: {title}")
	notWritten  = i18n.New("cannot write the page: {error}")
)

// showPicture prints a run as SVG or as a page, or writes the page into a file.
func (a *app) showPicture(g grid, asSVG bool, file string) (err error) {
	v, c := g.rows[0][0], g.columns[0]
	f := v.Failure
	if v.Trace == nil {
		return nothingSeen.Args("failure", f.ID, "stage", c.NameText(), "outcome", v.Outcome.Word(), "what", v.SentenceIn(a.lang))
	}
	title := a.say(pictureOf, "failure", i18n.Text(f.Title), "stage", c.NameText(), "title", c.TitleIn(a.lang))
	var drawn string
	if asSVG {
		file, drawn = "-", svg.Draw(v.Trace, v.Findings, svg.Caption{
			ID: f.ID + "-" + c.ID, Verdict: strings.TrimRight(v.HeadlineIn(a.lang), ".。"), Tone: v.Tone(), Subject: title, Language: a.lang,
		})
	} else if code, err := c.Code(a.sources); err != nil {
		return err
	} else if drawn, err = page.Run(v, title, code, a.lang); err != nil {
		return err
	}
	if file == "-" {
		fmt.Fprint(a.out, drawn)
		return nil
	}
	return writePage(file, []byte(drawn))
}

// writePage writes a page into a file, whose mode stays. A failure in the middle leaves the file as it was.
func writePage(name string, page []byte) error {
	mode := fs.FileMode(0o644)
	info, err := os.Lstat(name)
	if err == nil {
		mode = info.Mode()
	}
	if mode.IsRegular() {
		err = replace(name, page, mode)
	} else { // a link or a device stays
		err = os.WriteFile(name, page, 0o644)
	}
	if err != nil {
		return failedError{notWritten.Args("error", err)}
	}
	return nil
}

// replace writes a new file and gives it the name of the old one. In a folder that takes no new file it writes in place.
func replace(name string, page []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".lockkata-*")
	if err != nil {
		return os.WriteFile(name, page, mode)
	}
	_, err = f.Write(page)
	if err = cmp.Or(err, f.Chmod(mode), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
