package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/columns"
	"lockkata/internal/term"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff STAGE",
		Short: "What a stage changes in the lock of the stage before",
		Long: "diff prints what a stage changes in the lock that it is built on. Package comments and the\n" +
			"stage's own name are left out: what remains is the lesson. Of the whole lock it prints a map: what\n" +
			"each file adds, what needs it, and what may wait for a second reading.",
		Args: exactlyOne("stage", builtOnOthers()),
		RunE: func(_ *cobra.Command, args []string) error { return a.diff(args[0]) },
	}
}

// builtOnOthers are the stages that have one before them.
func builtOnOthers() []string {
	var ids []string
	for _, c := range columns.All {
		if c.Before != "" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (a *app) diff(id string) error {
	after, err := columns.Find(id)
	if err != nil {
		return err
	}
	if after.Before == "" {
		return fmt.Errorf("%s is built on no other; diff takes: %s", after.Name(), strings.Join(builtOnOthers(), ", "))
	}
	diffs, err := after.Diff(a.sources)
	if err != nil {
		return err
	}
	before := columns.Must(after.Before)
	for _, line := range term.Wrap(fmt.Sprintf("From %s to %s: %s", before.Name(), after.Name(), after.Lesson), a.width) {
		fmt.Fprintln(a.out, a.color.Paint(term.Bold, line))
	}
	fmt.Fprintln(a.out)
	if after.Map != nil {
		diffs = nil
		if err := a.printMap(after); err != nil {
			return err
		}
	}
	for _, diff := range diffs {
		a.printDiff(diff)
	}
	added, removed, err := after.Changed(a.sources)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%d lines added, %d lines removed, without blanks and comments\n", added, removed)
	return nil
}

func (a *app) printDiff(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.out, a.color.Diff(strings.TrimSuffix(line, "\n")))
	}
}

// printMap prints what each file of a lock adds to the one before.
func (a *app) printMap(c columns.Column) error {
	lines, err := c.Lines(a.sources)
	if err != nil {
		return err
	}
	for _, part := range c.Map {
		fmt.Fprintf(a.out, "%s, %d lines\n", a.color.Paint(term.Bold, part.File), lines[part.File])
		needs := "Needed by "
		if len(part.Failures) > 0 {
			needs += "the failures " + strings.Join(part.Failures, ", ") + ", and by "
		}
		texts := []string{part.Adds, needs + strings.Join(part.Tests, ", ") + "."}
		if part.Skip != "" {
			texts = append(texts, "On a first reading skip "+part.Skip+".")
		}
		for i, text := range texts {
			for _, line := range term.Wrap(text, min(a.width, 100)-2) {
				if i > 0 {
					line = a.color.Paint(term.Dim, line)
				}
				fmt.Fprintf(a.out, "  %s\n", line)
			}
		}
	}
	fmt.Fprintf(a.out, "\n%s\n  %s\n%s\n  %s\n%s\n  %s\n",
		"See a failure:", "go run . show FAILURE --before-after --steps",
		"Run a test:", "go test -v -run TEST ./"+c.Dir,
		"Line by line:", "git diff --no-index "+columns.Must(c.Before).Dir+" "+c.Dir)
	return nil
}
