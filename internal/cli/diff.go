package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff STAGE",
		Short: "What a stage changes in the lock of the stage before",
		Long: "diff prints what a stage changes in the lock that it is built on, with the files' own line " +
			"numbers. Package comments are left out, and so are lines in which only the stage's name differs.",
		Example: "go run . diff 4",
		Args:    words(1, 1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.diff(args[0]) },
	}
}

// builtOnOthers returns the IDs of the stages that are built on another one.
func builtOnOthers() (ids []string) {
	for _, c := range stages.Table {
		if c.Before != "" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

var (
	fromTo        = i18n.New("From {before} to {after}: {lesson}")
	builtOnNone   = i18n.New("no stage comes before {stage}; diff takes: {others}")
	changedLines  = i18n.New("{added} lines added, {removed} lines removed, without blanks and comments")
	fileLines     = i18n.New("{file}, {lines} lines")
	neededByTests = i18n.New("Needed by {tests}.")
	neededByBoth  = i18n.New("Needed by the failures {failures}, and by {tests}.")
	skipAtFirst   = i18n.New("On a first reading skip {what}.")
	howToFollow   = i18n.New("A failure: {show}\nA test: {test}\nLine by line: {diff}")
)

func (a *app) diff(id string) error {
	after, err := stages.Find(id)
	if err != nil {
		return err
	}
	if after.Before == "" {
		return builtOnNone.Args("stage", after.NameText(), "others", strings.Join(builtOnOthers(), ", "))
	}
	diffs, err := after.Diff(a.sources)
	if err != nil {
		return err
	}
	added, removed, err := after.Changed(a.sources)
	if err != nil {
		return err
	}
	before := stages.MustFind(after.Before)
	a.heading(term.Bold, a.say(fromTo, "before", before.NameText(), "after", after.NameText(), "lesson", i18n.Text(after.Lesson)))
	fmt.Fprintln(a.out)
	if after.Map != nil { // a line-by-line difference would be too long
		err = a.printMap(after, before)
	} else {
		for line := range strings.Lines(strings.Join(diffs, "")) {
			fmt.Fprintln(a.out, a.color.Diff(strings.TrimSuffix(line, "\n")))
		}
	}
	fmt.Fprintf(a.out, "\n%s\n", a.say(changedLines, "added", added, "removed", removed))
	return err
}

// printMap prints what each file of a lock adds to the one before.
func (a *app) printMap(after, before stages.Stage) error {
	lines, err := after.Lines(a.sources)
	if err != nil {
		return err
	}
	for _, part := range after.Map {
		fmt.Fprintln(a.out, a.color.Paint(term.Bold, a.say(fileLines, "file", part.File, "lines", lines[part.File])))
		a.prose("", 2, a.say(part.Adds))
		tests := strings.Join(part.Tests, ", ")
		needs := neededByTests.Args("tests", tests)
		if len(part.Failures) > 0 {
			needs = neededByBoth.Args("failures", strings.Join(part.Failures, ", "), "tests", tests)
		}
		a.prose(term.Dim, 2, needs.Localize(a.lang))
		if part.Skip != "" {
			a.prose(term.Dim, 2, a.say(skipAtFirst, "what", part.Skip))
		}
	}
	fmt.Fprintf(a.out, "\n%s\n", a.say(howToFollow, "show", "go run . show FAILURE --before-after --steps",
		"test", "go test -v -run TEST ./"+after.Dir, "diff", "git diff --no-index "+before.Dir+" "+after.Dir))
	return nil
}
