// Package cli is the command: what "go run ." and its subcommands do.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1 // a failure has another outcome than the lesson says
	exitBadUsage    = 2
	exitInterrupted = 130 // by Ctrl-C, as shells have it
)

// failedError ends a command that was typed correctly and has bad news.
type failedError struct{ error }

// Unwrap is the news.
func (e failedError) Unwrap() error { return e.error }

// app is one run of the command.
type app struct {
	t        *testing.T
	sources  fs.FS     // the stages' files, and the documents
	in       io.Reader // nil: the standard input
	out      io.Writer
	err      io.Writer
	color    term.Color
	width    int
	binary   string              // this program, to be started again; "": it cannot be
	terminal bool                // a person looks at err
	watched  bool                // a person looks at out
	builds   bool                // serve builds the page's engine
	getenv   func(string) string // nil: there is no environment
	lang     i18n.Language       // of what it says
}

// say is a text in the language that was asked for.
func (a *app) say(t i18n.Text, pairs ...any) string { return t.Localize(a.lang, pairs...) }

// prose prints sentences, in lines that are not too long.
func (a *app) prose(said i18n.Message) { a.lines(a.wrapped(said.Localize(a.lang), 0)) }

// wrapped are the lines of some sentences, so many columns further in.
func (a *app) wrapped(text string, indent int) []string {
	return term.Wrap(text, min(a.width, widestProse)-indent)
}

// line prints a line as it stands where there is room for it, else wrapped, as far in as it begins.
func (a *app) line(text string) {
	words := strings.TrimLeft(text, " ")
	if term.Columns(text) <= a.width {
		fmt.Fprintln(a.out, text)
	} else {
		a.item(text[:len(text)-len(words)], words)
	}
}

// painted are the lines of a text in a style.
func (a *app) painted(style term.Style, text string) (lines []string) {
	for _, line := range term.Wrap(text, a.width) {
		lines = append(lines, a.color.Paint(style, line))
	}
	return lines
}

// item prints a text beside what it is about.
func (a *app) item(head, text string) { a.lines(term.Beside(head, text, a.width)) }

// lines prints lines of text.
func (a *app) lines(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(a.out, line)
	}
}

// widestProse is how many columns sentences take at most.
const widestProse = 100

// usualWidth is how many columns there are where nobody knows.
const usualWidth = 120

// Run runs the command with these arguments inside a test and returns its exit status.
// It has no terminal and no environment, and starts no other process of this program; the
// page of serve has no engine.
func Run(t *testing.T, sources fs.FS, in io.Reader, out, errors io.Writer, args ...string) int {
	a := &app{t: t, sources: sources, in: in, out: out, err: errors, width: usualWidth}
	return a.run(args)
}

// Main runs the command and exits.
func Main(sources fs.FS) {
	world.Main(func(t *testing.T, args []string) int {
		a := &app{t: t, sources: sources, out: os.Stdout, err: os.Stderr, width: usualWidth, getenv: os.Getenv, builds: true}
		a.binary, _ = os.Executable() // "" if nobody knows
		_, a.terminal = keyboard.Terminal(os.Stderr)
		if _, a.watched = keyboard.Terminal(os.Stdout); a.watched {
			a.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
			a.width = keyboard.Width(os.Stdout, a.width)
		}
		return a.run(args)
	})
}

// run runs the command with these arguments and returns its exit status.
func (a *app) run(args []string) int {
	var err error
	if a.lang, err = a.language(askedLanguage(args)); err != nil {
		return a.badUsage(err)
	}
	out := &output{Writer: a.out}
	if _, isTerminal := keyboard.Terminal(a.out); !isTerminal { // a terminal has room, and is asked for its size
		a.out = out
	}
	root := a.root()
	a.speak(root)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for "read os.Args"
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(badFlag)
	err = root.Execute()
	var failed failedError
	switch {
	case out.err != nil: // whatever else was wrong: what was asked for is not all there
		fmt.Fprintln(a.err, a.say(notPrinted, "why", out.err))
		return exitFailed
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, a.say(interrupted))
		return exitInterrupted
	case errors.As(err, &failed):
		fmt.Fprintln(a.err, i18n.Words(failed.error, a.lang))
		return exitFailed
	}
	return a.badUsage(err)
}

var (
	notPrinted  = i18n.New("the output cannot be written: {why}")
	interrupted = i18n.New("interrupted")
)

// output is where a command prints. It remembers the first error, which a command that prints does
// not look at.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// badUsage ends a command that cannot be carried out.
func (a *app) badUsage(err error) int {
	fmt.Fprintf(a.err, "lockkata: %s\n", i18n.Words(err, a.lang))
	return exitBadUsage
}

func (a *app) root() *cobra.Command {
	var redis where
	var part excerpt
	root := &cobra.Command{
		Use:   "lockkata",
		Short: "Every failure of a Redis lock, on every stage of the lock",
		Long: "lockkata runs every failure of its catalogue on every stage of the lock, with real " +
			"go-redis clients on an embedded Redis in fake time, and prints a table of those that tell the " +
			"story of the stages.\n\n" +
			"With --lang zh it speaks Chinese. JSON, Markdown, and what locks, Redis and the compiler say " +
			"stay English.",
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(*cobra.Command, []string) error {
			if part.steps && part.documents {
				return exclude("--steps", "--documents")
			}
			if part.asJSON && part.totals {
				return exclude("--json", "--totals")
			}
			return a.matrix(redis, part)
		},
	}
	root.Flags().BoolVar(&part.asJSON, "json", false, "print the matrix as JSON")
	root.Flags().StringSliceVar(&part.families, "family", nil, "only the failures of this family: owner, waiters, ...")
	root.Flags().BoolVar(&part.all, "all", false, "every failure, by family; with --steps and --documents too")
	root.Flags().BoolVar(&part.totals, "totals", false, "only how many cells there are of each kind")
	root.Flags().BoolVar(&part.documents, "documents", false, "the locks of the five documents, in place of the stages: docs/documents.md")
	root.Flags().BoolVar(&part.steps, "steps", false, "the steps from stage 5 to stage 6 in place of the stages")
	root.Flags().BoolVar(&redis.live, "live", false, "play it in real time on real redis-server processes")
	root.Flags().StringVar(&redis.addr, "redis", "", "with --live: play it on the Redis at this `host:port`, which keeps its data")
	languageFlag(root)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(a.showCommand(), a.listCommand(), a.diffCommand(), a.demoCommand(), a.exploreCommand())
	root.AddCommand(a.replayCommand(), a.playCommand(), a.kataCommand(), a.gradeCommand(), a.interviewCommand(), a.serveCommand())
	return root
}

// helpCommand is "help", for those who type it as a word.
func helpCommand() *cobra.Command {
	return &cobra.Command{Use: "help [command]", Short: "Help about a command", Hidden: true, RunE: func(cmd *cobra.Command, args []string) error {
		target, rest, _ := cmd.Parent().Find(args) // what is not found is the rest
		if len(rest) > 0 && target.HasSubCommands() {
			return noArguments(target, rest)
		}
		return target.Help()
	}}
}

// tell shows a person at a terminal what is being done.
func (a *app) tell(what i18n.Message) { a.doing(what.Localize(a.lang)) }

// untilInterrupted is a context that ends with Ctrl-C, or when the program is told to stop.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// doing shows a person at a terminal what is being done; "" takes it away.
func (a *app) doing(what string) {
	if a.terminal {
		fmt.Fprint(a.err, term.EraseLine+what)
	}
}
