package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) showCommand() *cobra.Command {
	var stage string
	var beforeAfter, steps bool
	var as format
	cmd := &cobra.Command{
		Use:   "show FAILURE",
		Short: "Draw a failure, step by step",
		Long: "show draws a failure as a timeline: a lane for each client, the keys in Redis with their " +
			"owner and lease, the ledger, and the line of the lock that sent each command. Without " +
			"--stage it takes the last stage that the failure breaks.",
		Args: exactlyOne(aFailure, failureIDs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if beforeAfter && cmd.Flags().Changed("stage") {
				return exclude("--stage", "--before-after")
			}
			as.page = cmd.Flags().Changed("html")
			if err := as.check(beforeAfter); err != nil {
				return err
			}
			f, err := findFailure(args[0])
			if err != nil {
				return err
			}
			of := stages.Public()
			if asked, err := stages.Find(stage); steps || err == nil && asked.Hidden {
				of = stages.All()
			}
			chosen, err := chooseColumns(of, f, stage, beforeAfter)
			if err != nil {
				return err
			}
			return a.show(f, chosen, of, as)
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "the stage to run it on")
	cmd.Flags().BoolVar(&beforeAfter, "before-after", false, "the last stage that it breaks, then the first that it does not")
	cmd.Flags().BoolVar(&steps, "steps", false, "choose among the steps from stage 5 to stage 6 too")
	cmd.Flags().BoolVar(&as.json, "json", false, "print the trace and the findings as JSON")
	cmd.Flags().BoolVar(&as.svg, "svg", false, "draw it as a picture: SVG")
	cmd.Flags().StringVar(&as.html, "html", "", "draw it as a page to step through, into this `FILE`; - is the standard output")
	return cmd
}

func failureIDs() []string {
	var ids []string
	for _, f := range failures.All {
		ids = append(ids, f.ID)
	}
	return ids
}

var noFailure = i18n.New("there is no failure {name}")

func findFailure(id string) (failures.Failure, error) {
	f, ok := failures.Find(id)
	if !ok {
		return f, suggest(noFailure.Args("name", strconv.Quote(id)), id, failureIDs())
	}
	return f, nil
}

var (
	breaksNone = i18n.New("{failure} breaks no stage: go run . show {failure} --stage {stage} shows how it stays safe")
	breaksAll  = i18n.New("{failure} breaks every stage, so there is no after: go run . show {failure}")
)

// chooseColumns returns the column that was asked for, else the last that breaks; for before and
// after also the first that no longer does.
func chooseColumns(of []stages.Stage, f failures.Failure, asked string, beforeAfter bool) ([]stages.Stage, error) {
	if asked != "" {
		c, err := stages.Find(asked)
		return []stages.Stage{c}, err
	}
	chosen := turn(of, f)
	switch {
	case !beforeAfter:
		return chosen[:1], nil
	case len(chosen) == 2:
		return chosen, nil
	case chosen[0].Expect(f) == failures.Broken, chosen[0].Expect(f) == failures.Inherent:
		return nil, breaksAll.Args("failure", f.ID)
	}
	return nil, breaksNone.Args("failure", f.ID, "stage", chosen[0].ID)
}

// turn returns the last column that the failure breaks and the first that it no longer does, or the
// one of them that there is. What breaks none has the first that it applies to.
func turn(of []stages.Stage, f failures.Failure) []stages.Stage {
	broken, fixed := stages.FixedBy(of, f)
	switch {
	case broken == nil:
		return []stages.Stage{stages.First(of, f)}
	case fixed == nil:
		return []stages.Stage{*broken}
	}
	return []stages.Stage{*broken, *fixed}
}

// show draws the failure on the columns that were chosen of some.
func (a *app) show(f failures.Failure, chosen, of []stages.Stage, as format) error {
	chosen, err := stages.Ready(a.t, chosen)
	if err != nil {
		return failedError{err}
	}
	var verdicts []failures.Verdict
	for _, c := range chosen {
		verdicts = append(verdicts, failures.Run(a.t, f, c.Subject))
	}
	if as.json {
		return a.showJSON(verdicts)
	}
	for i, v := range verdicts {
		if as.isPicture() {
			if err := a.picture(v, chosen[i], as); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.showOne(v, chosen[i], i == 0, of)
	}
	for i, v := range verdicts {
		if want := chosen[i].Expect(f); want != v.Outcome {
			return failedError{a.surprise(cell{v, want})}
		}
	}
	return nil
}

func (a *app) showOne(v failures.Verdict, c stages.Stage, withStory bool, of []stages.Stage) {
	f := v.Failure
	if withStory {
		title := strings.Join(a.wrapped(a.say(titled, "name", f.ID, "what", i18n.Text(f.Title)), 0), "\n")
		fmt.Fprintf(a.out, "%s%s\n\n", a.color.Paint(term.Bold, f.ID), strings.TrimPrefix(title, f.ID))
		a.lines(append(a.wrapped(a.say(i18n.Text(f.Story)), 0), ""))
	}
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, a.say(onStage, "stage", c.NameIn(a.lang), "title", c.TitleIn(a.lang))))
	if v.Trace == nil {
		fmt.Fprintln(a.out, a.say(titled, "name", v.Outcome.Word(), "what", v.SentenceIn(a.lang)))
		return
	}
	a.draw(v.Trace, v.Findings)
	a.lines(a.painted(outcomeMarks[v.Outcome].style, v.HeadlineIn(a.lang)))
	if withStory && v.Outcome != failures.Safe {
		a.lines(a.wrapped(a.say(fixedBy, "what", i18n.Text(f.Fixed)), 0))
		if _, fixed := stages.FixedBy(of, f); fixed != nil {
			fmt.Fprintln(a.out, a.say(fixedAt, "stage", fixed.NameIn(a.lang), "id", fixed.ID))
		}
	}
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Dim, a.legend(v.Trace)))
}

// draw draws a run.
func (a *app) draw(trace *world.Trace, findings []oracle.Finding) {
	options := timeline.Options{Color: a.color, Width: a.width, Language: a.lang}
	fmt.Fprintln(a.out, timeline.Text(trace, findings, options))
}

var (
	onStage     = i18n.New("On {stage}, {title}:")
	fixedAt     = i18n.New("That is {stage}: go run . diff {id}")
	legendLanes = i18n.New("│ inside   ║ two are inside")
	legendStill = i18n.New("░ stands still")
	legendOwner = i18n.New("A1 is A's first hold")
	legendLine  = i18n.New("mutex.go:1 is the line that sent the command")
)

// legend explains the signs that this picture uses.
func (a *app) legend(trace *world.Trace) string {
	signs := []string{a.say(legendLanes)}
	if slices.ContainsFunc(trace.Events, func(e world.Event) bool { return e.Kind == world.Frozen }) {
		signs = append(signs, a.say(legendStill))
	}
	bars, names := strings.Join(signs, "   "), a.say(legendOwner)+"   "+a.say(legendLine)
	if term.Columns(bars+"   "+names) > a.width {
		return bars + "\n" + names
	}
	return bars + "   " + names
}

func (a *app) showJSON(verdicts []failures.Verdict) error {
	type jsonRun struct {
		Failure  string           `json:"failure"`
		Subject  string           `json:"subject"`
		Outcome  string           `json:"outcome"`
		Sentence string           `json:"sentence"`
		Findings []oracle.Finding `json:"findings"`
		Trace    *world.Trace     `json:"trace"`
	}
	var runs []jsonRun
	for _, v := range verdicts {
		runs = append(runs, jsonRun{v.Failure.ID, v.Subject, v.Outcome.String(), v.Sentence(), v.Findings, v.Trace})
	}
	return a.printJSON(runs)
}
