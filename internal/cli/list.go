package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) listCommand() *cobra.Command {
	var long, asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The catalogue: every failure, by family",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case asJSON && asMarkdown, long && (asJSON || asMarkdown):
				return exclude("--long", "--json", "--markdown")
			case asJSON:
				return a.listJSON()
			case asMarkdown:
				a.listMarkdown()
			default:
				a.list(long)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&long, "long", false, "tell the story of each, what fixes it, and where it runs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the catalogue as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the catalogue as a document, with pictures, rules and public incidents: docs/failures.md")
	return cmd
}

// list prints the catalogue by family: a line for each failure, or its story.
func (a *app) list(long bool) {
	for _, family := range families() {
		fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, a.say(i18n.Text(family[0].Family))))
		var rows []row
		for _, f := range family {
			rows = append(rows, row{f.ID, a.say(i18n.Text(f.Title))})
			if long {
				a.story(f)
			}
		}
		if !long {
			fmt.Fprint(a.out, a.table(rows))
		}
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, a.say(howMany, "n", len(failures.All)))
}

// story prints what happens in a failure, what fixes it, and where it runs.
func (a *app) story(f failures.Failure) {
	fmt.Fprintln(a.out)
	a.line("  " + a.say(titled, "name", a.color.Paint(term.Bold, f.ID), "what", i18n.Text(f.Title)))
	for _, line := range a.wrapped(a.say(i18n.Text(f.Story)), 4) {
		fmt.Fprintf(a.out, "    %s\n", line)
	}
	for _, text := range []i18n.Message{fixedBy.Args("what", i18n.Text(f.Fixed)), runsIn(f)} {
		for _, line := range a.wrapped(text.Localize(a.lang), 4) {
			fmt.Fprintf(a.out, "    %s\n", a.color.Paint(term.Dim, line))
		}
	}
}

var (
	titled      = i18n.New("{name}: {what}")
	fixedBy     = i18n.New("Fixed by: {what}")
	runsInBoth  = i18n.New("Runs in: world and live")
	runsInWorld = i18n.New("Runs in: world: {why}")
	howMany     = i18n.New("{n} failures; go run . list --long tells their stories, go run . show FAILURE draws one")
)

// runsIn says where a failure runs.
func runsIn(f failures.Failure) i18n.Message {
	if f.Live != "" {
		return runsInWorld.Args("why", i18n.Text(f.Live))
	}
	return runsInBoth.Args()
}

func (a *app) listJSON() error {
	type jsonFailure struct {
		ID       string            `json:"id"`
		Family   string            `json:"family"`
		Title    string            `json:"title"`
		Story    string            `json:"story"`
		Fixed    string            `json:"fixed"`
		Breaks   []string          `json:"breaks"`
		Expected map[string]string `json:"expected"`
		Live     bool              `json:"live"`               // it runs on a real Redis too
		NotLive  string            `json:"not_live,omitempty"` // why not
	}
	var all []jsonFailure
	for _, f := range failures.All {
		j := jsonFailure{f.ID, string(f.Family), f.Title, f.Story, f.Fixed, nil, map[string]string{}, f.Live == "", f.Live}
		for _, m := range f.Breaks {
			j.Breaks = append(j.Breaks, string(m))
		}
		for _, s := range stages.Public() {
			j.Expected[s.Subject.Name] = s.Expect(f).String()
		}
		all = append(all, j)
	}
	return a.printJSON(all)
}
