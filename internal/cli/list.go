package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/term"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The catalogue: every failure with its story",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			if asJSON && asMarkdown {
				return fmt.Errorf("--json and --markdown exclude each other")
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

// noWords refuses arguments.
func noWords(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, not %q", cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

func (a *app) list(asJSON bool) error {
	if asJSON {
		return a.listJSON()
	}
	var family failures.Family
	for _, f := range failures.All {
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(a.out, "%s\n\n", a.color.Paint(term.Bold, string(family)))
		}
		fmt.Fprintf(a.out, "  %s: %s\n", a.color.Paint(term.Bold, f.ID), f.Title)
		for _, line := range term.Wrap(f.Story, min(a.width, 100)-4) {
			fmt.Fprintf(a.out, "    %s\n", line)
		}
		for _, line := range term.Wrap("Fixed by: "+f.Fixed, min(a.width, 100)-4) {
			fmt.Fprintf(a.out, "    %s\n", a.color.Paint(term.Dim, line))
		}
		for _, line := range term.Wrap("Runs in: "+runsIn(f), min(a.width, 100)-4) {
			fmt.Fprintf(a.out, "    %s\n", a.color.Paint(term.Dim, line))
		}
		fmt.Fprintln(a.out)
	}
	fmt.Fprintf(a.out, "%s\n\n", a.color.Paint(term.Bold, "beside the catalogue: judged by the last stage's own tests"))
	for _, b := range failures.NotInMatrix {
		fmt.Fprintf(a.out, "  %s: %s\n    %s\n\n", a.color.Paint(term.Bold, b.ID), b.Title,
			a.color.Paint(term.Dim, "go test -v -run "+b.Test+" ./stage6_reentrant_pubsub"))
	}
	fmt.Fprintf(a.out, "%d failures; go run . show FAILURE draws one\n", len(failures.All))
	return nil
}

// runsIn says where a failure runs.
func runsIn(f failures.Failure) string {
	if f.Live != "" {
		return "world: " + f.Live
	}
	return "world and live"
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
