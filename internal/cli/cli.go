// Package cli implements "go run ." and its subcommands.
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
	"github.com/spf13/pflag"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1 // a failure has an unexpected outcome
	exitBadUsage    = 2
	exitInterrupted = 130 // by Ctrl-C, as in shells
)

// failedError is bad news from a command that was typed correctly.
type failedError struct{ error }

func (e failedError) Unwrap() error { return e.error }

// app is one run of the program.
type app struct {
	t        *testing.T
	sources  fs.FS     // the stages' files, and the documents
	in       io.Reader // nil: the standard input
	out      io.Writer
	err      io.Writer
	color    term.Color
	width    int
	binary   string              // this program's file, to start it again; "": unknown
	terminal bool                // err is a terminal
	watched  bool                // out is a terminal
	builds   bool                // serve builds the page's engine
	getenv   func(string) string // nil: no environment
	// configDir returns the user's configuration folder. Without an environment it is nil.
	configDir func() (string, error)
	lang      i18n.Language // of the output
}

// say returns a text in the chosen language.
func (a *app) say(t i18n.Text, pairs ...any) string { return t.Localize(a.lang, pairs...) }

// prose prints sentences in a style, indented.
func (a *app) prose(style term.Style, indent int, text string) {
	for _, line := range term.Wrap(text, min(a.width, widestProse)-indent) {
		fmt.Fprintln(a.out, strings.Repeat(" ", indent)+a.color.Paint(style, line))
	}
}

// heading prints a text in a style, wrapped to the terminal's width.
func (a *app) heading(style term.Style, text string) {
	for _, line := range term.Wrap(text, a.width) {
		fmt.Fprintln(a.out, a.color.Paint(style, line))
	}
}

// item prints a text next to its head.
func (a *app) item(head, text string) {
	for _, line := range term.Beside(head, text, a.width) {
		fmt.Fprintln(a.out, line)
	}
}

const (
	widestProse = 100 // the most columns for prose
	usualWidth  = 120 // columns without a terminal
)

// leastScreen is the columns that a game needs.
const leastScreen = 60

var needsColumns = i18n.New("this needs {least} columns; the terminal has {n}")

// narrow returns a request for a wider terminal; "" if the width is enough.
func (a *app) narrow(width int) string {
	if width >= leastScreen {
		return ""
	}
	return a.say(needsColumns, "least", leastScreen, "n", width)
}

// askForRoom asks for a wider terminal if a table or a picture does not fit.
func (a *app) askForRoom() {
	if text := a.narrow(a.width); text != "" {
		fmt.Fprintln(a.err, text)
	}
}

// Run runs the program with these arguments inside a test and returns its exit status.
// It has no terminal and no environment, and does not start itself again; the page of serve has
// no engine.
func Run(t *testing.T, sources fs.FS, in io.Reader, out, errors io.Writer, args ...string) int {
	a := &app{t: t, sources: sources, in: in, out: out, err: errors, width: usualWidth}
	return a.run(args)
}

// Main runs the command and exits.
func Main(sources fs.FS) {
	world.Main(func(t *testing.T, args []string) int {
		a := &app{t: t, sources: sources, out: os.Stdout, err: os.Stderr, width: usualWidth, getenv: os.Getenv, configDir: os.UserConfigDir, builds: true}
		a.binary, _ = os.Executable() // "" if it is unknown
		_, a.terminal = keyboard.Terminal(os.Stderr)
		if _, a.watched = keyboard.Terminal(os.Stdout); a.watched {
			a.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
			a.width = keyboard.Width(os.Stdout, a.width)
		}
		return a.run(args)
	})
}

// run runs the program with these arguments and returns its exit status.
func (a *app) run(args []string) int { return a.runWithin(context.Background(), args) }

// runWithin is [app.run] with a context. The context of a command also ends with Ctrl-C or SIGTERM;
// a second Ctrl-C kills a command that ignores its context.
func (a *app) runWithin(ctx context.Context, args []string) int {
	var err error
	if a.lang, err = a.language(args); err != nil {
		return a.badUsage(err)
	}
	out := &output{Writer: a.out}
	if _, isTerminal := keyboard.Terminal(a.out); !isTerminal { // only a terminal has a size
		a.out = out
	}
	root := a.root()
	eachHelp(root, func(text *string) { *text = a.say(i18n.Text(*text)) })
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for "read os.Args"
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err = root.ExecuteContext(ctx)
	var failed failedError
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, a.say(interrupted))
		return exitInterrupted
	case out.err != nil: // also after another error: the output is incomplete
		fmt.Fprintln(a.err, a.say(notPrinted, "why", out.err))
		return exitFailed
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		fmt.Fprintln(a.err, i18n.Words(failed.error, a.lang))
		return exitFailed
	}
	return a.badUsage(inOurWords(err))
}

// language returns the language of the last --lang, or else of the environment. It runs before
// cobra parses the arguments, since help and errors are translated too. An error is printed in the
// returned language.
func (a *app) language(args []string) (l i18n.Language, err error) {
	l = i18n.English
	if a.getenv != nil {
		l = i18n.OfEnvironment(a.getenv)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.BoolP("help", "h", false, "") // parsing goes on after it
	flags.Func("lang", "", func(name string) error {
		if asked, ok := i18n.Find(name); ok {
			l, err = asked, nil
		} else if name != "" {
			err = noLanguage.Args("name", name)
		}
		return nil
	})
	_ = flags.Parse(args) // cobra reports the errors
	return l, err
}

var (
	noLanguage  = i18n.New("--lang {name}: there are en and zh")
	notPrinted  = i18n.New("the output cannot be written: {why}")
	interrupted = i18n.New("interrupted")
)

// output is a command's standard output. It remembers the first error, since commands do not check
// each print.
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

// badUsage prints an error of usage and returns its status.
func (a *app) badUsage(err error) int {
	fmt.Fprintf(a.err, "lockkata: %s\n", i18n.Words(err, a.lang))
	return exitBadUsage
}

func (a *app) root() *cobra.Command {
	var asked request
	root := &cobra.Command{
		Use: "lockkata [command]",
		Long: "lockkata runs every failure of its catalogue on every stage of the lock, with real " +
			"go-redis clients on an embedded Redis in fake time, and prints a table of those that tell the " +
			"story of the stages.\n\n" +
			"With --lang zh it speaks Chinese. JSON, Markdown, and what locks, Redis and the compiler say " +
			"stay English.",
		Args:          words(0, 0),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked.view = chosenView(cmd.Flags())
			return a.matrix(cmd.Context(), asked)
		},
	}
	f := root.Flags()
	f.BoolVar(&asked.asJSON, "json", false, "print the matrix as JSON")
	f.StringSliceVar(&asked.families, "family", nil, "only the failures of this family: owner, waiters, ...")
	f.BoolVar(&asked.all, "all", false, "every failure, by family; with --steps and --documents too")
	f.BoolVar(&asked.totals, "totals", false, "only the number of results of each kind")
	f.BoolVar(&asked.live, "live", false, "play it in real time on real redis-server processes")
	f.StringVar(&asked.addr, "redis", "", "with --live: play it on the Redis at this `host:port`, which keeps its data")
	addViews(root)
	root.MarkFlagsMutuallyExclusive("json", "totals")
	root.PersistentFlags().String("lang", "", "the `language`, en or zh; without it that of LC_ALL, LC_MESSAGES or LANG")
	root.PersistentFlags().BoolP("help", "h", false, "print the help of a command")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(a.help)
	root.SetFlagErrorFunc(badFlag)
	cobra.EnableCommandSorting = false
	add := func(group string, title i18n.Text, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: a.say(title)})
		for _, cmd := range commands {
			cmd.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add("start", startGroup, a.learnCommand(), a.showCommand(), a.diffCommand(), a.playCommand(), a.kataCommand(), a.interviewCommand(), a.serveCommand())
	add("more", moreGroup, a.exploreCommand(), a.replayCommand(), a.listCommand(), a.gradeCommand(), a.demoCommand(), a.searchCommand())
	return root
}

// tell shows progress at a terminal.
func (a *app) tell(what i18n.Message) { a.doing(what.Localize(a.lang)) }

// doing shows progress at a terminal; "" removes it.
func (a *app) doing(what string) {
	if a.terminal {
		fmt.Fprint(a.err, term.EraseLine+what)
	}
}
