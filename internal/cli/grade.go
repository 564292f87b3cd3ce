package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/kata"
	"lockkata/internal/term"
	"lockkata/internal/theatre"
)

// grading is what grade is asked for.
type grading struct {
	json, markdown bool
	html, expect   string
	update, search bool
	has            []string
}

func (a *app) gradeCommand() *cobra.Command {
	var g grading
	cmd := &cobra.Command{
		Use:   "grade DIR",
		Short: "Run every failure on a lock of your own, and print its report card",
		Long: "grade compiles the Go package in a folder, here or anywhere, and runs the catalogue on its lock,\n" +
			"in a process of its own. The package has a func NewMutex(rdb redis.UniversalClient, name string,\n" +
			"lease time.Duration), which returns a lock and an error, or a func Subject() failures.Subject.\n" +
			"docs/grade.md tells how to use it in CI.",
		Args: exactlyOne("folder", []string{"those of Go packages"}),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := g.check(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(a.t.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			err := a.grade(ctx, args[0], g)
			if err != nil && ctx.Err() != nil {
				return errInterrupted
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&g.json, "json", false, "print the card as JSON")
	f.BoolVar(&g.markdown, "markdown", false, "print the card as a Markdown table")
	f.StringVar(&g.html, "html", "", "write a page with every run, to step through, into this `FILE` too")
	f.StringVar(&g.expect, "expect", "", "compare the card with this `FILE`: exit status 1 when a cell differs")
	f.BoolVar(&g.update, "update", false, "with --expect: write the card into the file")
	f.BoolVar(&g.search, "search", false, "search the schedules of two clients too, up to a bound")
	f.StringSliceVar(&g.has, "has", nil, "what a lock without a Subject has: watchdog, re-entry, pub/sub, fencing, force, scripts")
	return cmd
}

func (g grading) check() error {
	switch {
	case g.json && g.markdown:
		return errors.New("--json and --markdown exclude each other")
	case g.update && g.expect == "":
		return errors.New("--update writes the file of --expect: name it, as in --expect card.txt --update")
	}
	return nil
}

func (a *app) grade(ctx context.Context, dir string, g grading) error {
	root, err := kata.FindRoot(".")
	if err != nil {
		return err
	}
	card, err := kata.Grade(ctx, root, dir, kata.Grading{Has: g.has, Traces: g.html != "", Search: g.search})
	if err != nil {
		return err
	}
	switch {
	case g.json:
		err = a.printJSON(card)
	case g.markdown:
		a.gradeMarkdown(card)
	default:
		a.gradeText(card)
	}
	if err == nil && g.html != "" && len(card.Cells) > 0 {
		err = gradeHTML(card, g.html)
	}
	if err != nil {
		return err
	}
	if card.Compile != nil || card.Cause != nil && len(card.Cells) == 0 {
		return failedError{"the lock cannot be graded"}
	}
	return expected(card, g)
}

// expected compares the card with its file, or writes it.
func expected(card kata.Card, g grading) error {
	if g.expect == "" {
		return nil
	}
	if g.update {
		return os.WriteFile(g.expect, []byte(card.Golden()), 0o644)
	}
	raw, err := os.ReadFile(g.expect)
	if err != nil {
		return fmt.Errorf("%w: --update writes it", err)
	}
	if differences := card.Differences(string(raw)); len(differences) > 0 {
		return failedError{strings.Join(append(differences, "--update takes them for right"), "\n")}
	}
	return nil
}

// mark is the sign of an outcome.
func (a *app) mark(o failures.Outcome) string {
	mark, known := outcomeMarks[o]
	if !known {
		return a.color.Paint(term.Alarm, "!")
	}
	return a.color.Paint(mark.style, mark.sign)
}

func (a *app) gradeText(card kata.Card) {
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, "The lock in "+card.Dir))
	a.gradeEnd(card)
	var family failures.Family
	width := 0
	for _, c := range card.Cells {
		width = max(width, len(c.Failure))
	}
	for _, c := range card.Cells {
		if f, _ := failures.Find(c.Failure); f.Family != family {
			family = f.Family
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, string(family)))
		}
		fmt.Fprintf(a.out, "  %s %-*s  %s\n", a.mark(c.Of()), width, c.Failure, c.Told())
	}
	if len(card.Cells) > 0 {
		fmt.Fprintf(a.out, "\n  %s\n  ", card.Count())
		fmt.Fprintln(a.out, "✗ broken   ✓ safe in this one run   ◐ noticed: the holder is told in time   ~ no lease can prevent it   – not applicable")
	}
	for _, found := range card.Found {
		if found.Found {
			fmt.Fprintf(a.out, "  search: %s in %s: %s\n", found.Property, found.Env, found.Text)
		} else {
			fmt.Fprintf(a.out, "  search: %s in %s: nothing found\n", found.Property, found.Env)
		}
	}
}

// gradeEnd says what kept the lock from being graded to its end.
func (a *app) gradeEnd(card kata.Card) {
	if card.Compile != nil {
		fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Red, "✗ it does not compile: "+card.Compile.Error()))
	}
	if c := card.Cause; c != nil {
		fmt.Fprintf(a.out, "%s\n%s\n", a.color.Paint(term.Red, fmt.Sprintf("✗ it %s, in %s: %s", c.Kind, c.During, c.Text)), c.Next)
	}
}

func (a *app) gradeMarkdown(card kata.Card) {
	fmt.Fprint(a.out, "| failure | | what happened |\n|---|---|---|\n")
	for _, c := range card.Cells {
		fmt.Fprintf(a.out, "| `%s` | %s | %s |\n", c.Failure, a.mark(c.Of()), strings.ReplaceAll(c.Told(), "|", "\\|"))
	}
	fmt.Fprintf(a.out, "\n%s\n", card.Count())
	if c := card.Cause; c != nil {
		fmt.Fprintf(a.out, "\nIt %s, in %s: %s\n", c.Kind, c.During, c.Text)
	}
}

// gradeHTML writes the page.
func gradeHTML(card kata.Card, name string) error {
	mine := columns.Column{ID: "yours", Dir: ".", Title: card.Dir, Subject: failures.Subject{Name: "yours"}}
	var rows [][]failures.Verdict
	for _, c := range card.Cells {
		f, _ := failures.Find(c.Failure)
		v := failures.Verdict{Failure: f, Subject: "yours", Outcome: c.Of(), Findings: c.Findings, Trace: c.Trace}
		rows = append(rows, []failures.Verdict{v})
	}
	page, err := theatre.Page([]columns.Column{mine}, rows, os.DirFS(card.Dir), theatre.Engine{})
	if err == nil {
		err = os.WriteFile(name, page, 0o644)
	}
	if err != nil {
		return failedError{fmt.Sprintf("cannot write the page: %v", err)}
	}
	return nil
}
