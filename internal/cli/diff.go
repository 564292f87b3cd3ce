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
		Long: "diff prints what a stage changes in the lock that it is built on. Package comments and the " +
			"stage's own name are left out: what remains is the lesson.",
		Args: exactlyOne(aStage, builtOnOthers()),
		RunE: func(_ *cobra.Command, args []string) error { return a.diff(args[0]) },
	}
}

// builtOnOthers are the stages that have one before them.
func builtOnOthers() []string {
	var ids []string
	for _, c := range stages.Table {
		if c.Before != "" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

var (
	fromTo       = i18n.New("From {before} to {after}: {lesson}")
	builtOnNone  = i18n.New("{stage} is built on no other; diff takes: {others}")
	changedLines = i18n.New("{added} lines added, {removed} lines removed, without blanks and comments")
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
	before := stages.MustFind(after.Before)
	heading := a.say(fromTo, "before", before.NameText(), "after", after.NameText(), "lesson", i18n.Text(after.Lesson))
	a.lines(append(a.painted(term.Bold, heading), ""))
	if after.Map != nil {
		diffs = nil // line by line it would tell nobody anything
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
	fmt.Fprintf(a.out, "\n%s\n", a.say(changedLines, "added", added, "removed", removed))
	return nil
}

func (a *app) printDiff(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.out, a.color.Diff(strings.TrimSuffix(line, "\n")))
	}
}
