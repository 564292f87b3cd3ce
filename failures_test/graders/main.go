// Command graders puts other people's locks through the failures of this
// repository, and prints a report card: what each failure does to each library, and
// what the library promises.
//
//	go run . [--json]
//	go run . show FAILURE --library NAME
//	go run . defects
//	go run . promises [--library NAME]
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// findingError is a finding, not a mistake in the command.
type findingError struct{ text string }

func (e findingError) Error() string { return e.text }

func main() {
	world.Main(func(t *testing.T, args []string) int { return run(t, args, os.Stdout, os.Stderr) })
}

// run runs the command and returns its exit status: 1 for a finding, 2 for bad usage.
func run(t *testing.T, args []string, out, errs io.Writer) int {
	root := command(t)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for "read os.Args"
	root.SetOut(out)
	root.SetErr(errs)
	err := root.Execute()
	var finding findingError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &finding):
		fmt.Fprintln(errs, finding)
		return 1
	}
	fmt.Fprintf(errs, "graders: %v\n", err)
	return 2
}

func command(t *testing.T) *cobra.Command {
	var asJSON bool
	root := &cobra.Command{
		Use: "graders", Short: "Report cards of Redis lock libraries", Args: cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return printCards(t, cmd.OutOrStdout(), asJSON) },
	}
	root.Flags().BoolVar(&asJSON, "json", false, "print the cards as JSON")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})

	var name string
	show := &cobra.Command{
		Use: "show FAILURE --library NAME", Short: "One failure on one library, step by step", Args: oneFailure,
		RunE: func(cmd *cobra.Command, args []string) error { return show(t, cmd.OutOrStdout(), args[0], name) },
	}
	show.Flags().StringVar(&name, "library", "", "redsync, redislock, go-zero or rueidislock")
	_ = show.MarkFlagRequired("library") // the flag is there: see the line before

	var which string
	promises := &cobra.Command{
		Use: "promises", Short: "What each library says of itself, and where", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printPromises(cmd.OutOrStdout(), which) },
	}
	promises.Flags().StringVar(&which, "library", "", "only this library")

	defects := &cobra.Command{
		Use: "defects", Short: "Defects that were said of the libraries: reproduced or refuted", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printDefects(t, cmd.OutOrStdout()) },
	}
	root.AddCommand(show, defects, promises)
	return root
}

// oneFailure asks for one failure and says where they are.
func oneFailure(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("show takes one failure, not %d: go run . lists them", len(args))
	}
	return nil
}

// printCards plays everything and prints the table.
func printCards(t *testing.T, w io.Writer, asJSON bool) (err error) {
	began := time.Now()
	e, err := newExaminer(t, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	rows, err := e.examineAll()
	if err != nil {
		return err
	}
	if asJSON {
		var all []jsonCard
		for _, row := range rows {
			for _, c := range row {
				all = append(all, c.asJSON())
			}
		}
		if err := printJSON(w, all); err != nil {
			return err
		}
		return surprises(rows)
	}
	printTable(w, rows)
	runs := 0
	for _, row := range rows {
		for _, c := range row {
			if c.verdict.Trace != nil {
				runs++
			}
		}
	}
	fmt.Fprintf(w, "\n  %d runs in %.1f s; the judge reads commands, keys and answers, and never asks the library\n", runs, time.Since(began).Seconds())
	if e.without != nil {
		fmt.Fprintf(w, "  live, not played: %v\n", e.without)
	}
	fmt.Fprint(w, "\nTry next:\n"+
		"  go run . show deadline-in-flight --library redsync   the failure, step by step, and the promise\n"+
		"  go run . defects                                     what was said of these libraries: reproduced or refuted\n"+
		"  go run . promises                                    every promise, and the line where it stands\n")
	return surprises(rows)
}

// show prints one card.
func show(t *testing.T, w io.Writer, id, name string) (err error) {
	f, ok := failures.Find(id)
	if !ok {
		return fmt.Errorf("there is no failure %q: go run . lists them", id)
	}
	l, err := findLibrary(name)
	if err != nil {
		return err
	}
	e, err := newExaminer(t, l.Live)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	cards, err := e.examine(l, []failures.Failure{f})
	if err != nil {
		return err
	}
	c := cards[0]
	fmt.Fprintf(w, "%s: %s\n%s\n\n", f.ID, f.Title, f.Story)
	fmt.Fprintf(w, "%s %s: %s\n", l.Name, l.version(), l.Way)
	fmt.Fprintf(w, "  property  %s\n  its word  %s: %s\n            %s\n", c.property, c.promise.Word, c.promise.Says, l.link(c.promise))
	fmt.Fprintf(w, "  verdict   %s %s: %s\n", c.sign(), c.outcome, c.sentence())
	if c.note != "" && c.note != c.sentence() {
		fmt.Fprintf(w, "            %s\n", c.note)
	}
	if c.verdict.Trace != nil {
		fmt.Fprintf(w, "\n%s", timeline.Text(c.verdict.Trace, c.verdict.Findings, timeline.Options{}))
	}
	return surprises([][]card{cards})
}

// printPromises prints what the libraries say of themselves.
func printPromises(w io.Writer, only string) error {
	chosen := slices.Clone(libraries)
	if only != "" {
		l, err := findLibrary(only)
		if err != nil {
			return err
		}
		chosen = []library{l}
	}
	for i, l := range chosen {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s %s\n", l.Name, l.version())
		for _, p := range properties {
			word := l.Promises[p.property]
			fmt.Fprintf(w, "  %s\n    %s: %s\n    %s\n", p.property, word.Word, word.Says, l.link(word))
		}
	}
	return nil
}
