package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The catalogue: every failure with its story",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			if asJSON && asMarkdown {
				return exclude("--json", "--markdown")
			}
			if asMarkdown {
				a.listMarkdown()
				return nil
			}
			return a.list(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the catalogue as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the catalogue as a document, with pictures, rules and public incidents: docs/failures.md")
	return cmd
}

func (a *app) list(asJSON bool) error {
	if asJSON {
		return a.listJSON()
	}
	var family failures.Family
	for _, f := range failures.All {
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(a.out, "%s\n\n", a.color.Paint(term.Bold, a.say(texts.Text(family))))
		}
		a.line("  " + a.say(titled, "name", a.color.Paint(term.Bold, f.ID), "what", texts.Text(f.Title)))
		for _, line := range a.wrapped(a.say(texts.Text(f.Story)), 4) {
			fmt.Fprintf(a.out, "    %s\n", line)
		}
		for _, text := range []texts.Said{fixedBy.With("what", texts.Text(f.Fixed)), runsIn(f)} {
			for _, line := range a.wrapped(text.In(a.lang), 4) {
				fmt.Fprintf(a.out, "    %s\n", a.color.Paint(term.Dim, line))
			}
		}
		fmt.Fprintln(a.out)
	}
	fmt.Fprintf(a.out, "%s\n\n", a.color.Paint(term.Bold, a.say(besideCatalogue)))
	for _, b := range failures.NotInMatrix {
		a.line("  " + a.say(titled, "name", a.color.Paint(term.Bold, b.ID), "what", texts.Text(b.Title)))
		fmt.Fprintf(a.out, "    %s\n\n", a.color.Paint(term.Dim, "go test -v -run "+b.Test+" ./stage6_reentrant_pubsub"))
	}
	fmt.Fprintln(a.out, a.say(howMany, "n", len(failures.All)))
	return nil
}

var (
	titled          = texts.New("{name}: {what}")
	fixedBy         = texts.New("Fixed by: {what}")
	runsInBoth      = texts.New("Runs in: world and live")
	runsInWorld     = texts.New("Runs in: world: {why}")
	besideCatalogue = texts.New("beside the catalogue: judged by the last stage's own tests")
	howMany         = texts.New("{n} failures; go run . show FAILURE draws one")
)

// runsIn says where a failure runs.
func runsIn(f failures.Failure) texts.Said {
	if f.Live != "" {
		return runsInWorld.With("why", texts.Text(f.Live))
	}
	return runsInBoth.With()
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
		for _, s := range columns.Shown() {
			j.Expected[s.Subject.Name] = s.Expect(f).String()
		}
		all = append(all, j)
	}
	return a.printJSON(all)
}
