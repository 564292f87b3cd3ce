package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

func (a *app) listCommand() *cobra.Command {
	var long, asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The catalogue: every failure, by family",
		Args:  words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case asJSON:
				return a.listJSON()
			case asMarkdown:
				a.listMarkdown()
				return nil
			}
			a.list(long)
			return nil
		},
	}
	cmd.Flags().BoolVar(&long, "long", false, "print each failure's story, what fixes it, and where it runs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the catalogue as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the catalogue as a document, with pictures, rules and public reports: docs/failures.md")
	cmd.MarkFlagsMutuallyExclusive("long", "json", "markdown")
	return cmd
}

var (
	runsInBoth  = i18n.New("Runs in: world and live")
	runsInWorld = i18n.New("Runs in: world: {why}")
	howMany     = i18n.New("{n} failures; go run . list --long prints their stories, go run . show FAILURE draws one")
)

// families returns the failures of the catalogue, grouped by family.
func families() [][]catalogue.Failure {
	var all [][]catalogue.Failure
	for _, f := range catalogue.Everything {
		if n := len(all); n > 0 && all[n-1][0].Family == f.Family {
			all[n-1] = append(all[n-1], f)
		} else {
			all = append(all, []catalogue.Failure{f})
		}
	}
	return all
}

// list prints the catalogue by family: a line for each failure, or its story.
func (a *app) list(long bool) {
	for _, family := range families() {
		fmt.Fprintln(a.out, a.color.Paint(term.Bold, a.say(i18n.Text(family[0].Family))))
		var rows []row
		for _, f := range family {
			rows = append(rows, row{f.ID, i18n.Text(f.Title)})
			if long {
				a.story(f)
			}
		}
		if !long {
			fmt.Fprint(a.out, a.table(rows))
		}
		fmt.Fprintln(a.out)
	}
	a.prose("", 0, a.say(howMany, "n", len(catalogue.Everything)))
}

// story prints a failure's steps, its fix, and where it runs.
func (a *app) story(f catalogue.Failure) {
	runs := runsInBoth.Args()
	if f.Live != "" {
		runs = runsInWorld.Args("why", i18n.Text(f.Live))
	}
	fmt.Fprintln(a.out)
	a.item("  ", a.say(titled, "name", a.color.Paint(term.Bold, f.ID), "what", i18n.Text(f.Title)))
	a.prose("", 4, a.say(i18n.Text(f.Story)))
	a.prose(term.Dim, 4, a.say(fixedBy, "what", i18n.Text(f.Fixed)))
	a.prose(term.Dim, 4, runs.Localize(a.lang))
}

func (a *app) listJSON() error {
	type jsonFailure struct {
		ID       string            `json:"id"`
		Family   catalogue.Family  `json:"family"`
		Title    string            `json:"title"`
		Story    string            `json:"story"`
		Fixed    string            `json:"fixed"`
		Breaks   []oracle.Rule     `json:"breaks"`
		Expected map[string]string `json:"expected"`
		Live     bool              `json:"live"`               // it runs on a real Redis too
		NotLive  string            `json:"not_live,omitempty"` // why not
	}
	var all []jsonFailure
	for _, f := range catalogue.Everything {
		j := jsonFailure{f.ID, f.Family, f.Title, f.Story, f.Fixed, f.Breaks, map[string]string{}, f.Live == "", f.Live}
		for _, s := range locksOf(f) {
			j.Expected[s.Subject.Name] = s.Expect(f).String()
		}
		all = append(all, j)
	}
	return a.printJSON(all)
}
