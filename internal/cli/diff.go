package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff STAGE",
		Short: "What a stage changes in the lock of the stage before",
		Long: "diff prints what stage N changes in the lock of stage N-1. Package comments and the\n" +
			"stage's own name are left out: what remains is the lesson.",
		Args: exactlyOne("stage", diffStages()),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return fmt.Errorf("%q is no stage; there are: %s", args[0], strings.Join(diffStages(), ", "))
			}
			return a.diff(n)
		},
	}
}

// diffStages are the stages that have one before them.
func diffStages() []string {
	var numbers []string
	for _, s := range stages.All[1:] {
		numbers = append(numbers, strconv.Itoa(s.Number))
	}
	return numbers
}

func (a *app) diff(n int) error {
	after, err := findStage(n)
	if err != nil {
		return err
	}
	if n == stages.All[0].Number {
		return fmt.Errorf("stage %d is the first; diff takes: %s", n, strings.Join(diffStages(), ", "))
	}
	before, err := findStage(n - 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n\n", a.color.Paint(term.Bold, fmt.Sprintf("From stage %d to stage %d: %s", before.Number, after.Number, after.Lesson)))
	diffs, err := stages.Diff(a.sources, n)
	if err != nil {
		return err
	}
	for _, diff := range diffs {
		a.printDiff(diff)
	}
	return nil
}

func (a *app) printDiff(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.out, a.color.Diff(strings.TrimSuffix(line, "\n")))
	}
}
