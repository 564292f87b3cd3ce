package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
)

// kataCommand returns "kata", which is watch mode without a subcommand.
func (a *app) kataCommand() *cobra.Command {
	k := &kataApp{app: a}
	var afresh, anyway, all bool
	cmd := k.command("kata [command]", "Write the lock yourself, and let the failures find your bug", words(0, 0),
		func(ctx context.Context, f folder.Folder, v kata.View, _ []string) (string, error) {
			return "", kata.Loop(ctx, f, v, os.Stdin, k.out)
		})
	cmd.Long = "kata starts the first exercise that you have not passed, or resumes the one that you left. It stays " +
		"open, checks your lock on every save, and shows one thing at a time: the compiler's first error, or the " +
		"first failure, drawn with your own lines."
	cmd.PersistentFlags().StringVar(&k.dir, "dir", "", "the folder of your lock (default mylock in the repository)")

	start := k.command("start [N]", "Start or resume exercise N (default: the one under way, or the first not passed)", words(0, 1),
		func(_ context.Context, f folder.Folder, v kata.View, args []string) (string, error) {
			p, err := f.Progress()
			e := p.Next()
			if err == nil && len(args) > 0 {
				e, err = exercises.Find(args[0])
			}
			if err != nil {
				return "", err
			}
			return k.start(f, v, e, afresh)
		})
	start.Example = "go run . kata start 3"
	start.Flags().BoolVar(&afresh, "fresh", false, "start it again; what you wrote is kept")

	next := k.command("next", "Start the next exercise, once this one is passed", words(0, 0), text(func(f folder.Folder, v kata.View) (string, error) {
		e, err := f.Next()
		if err != nil {
			return "", err
		}
		return k.start(f, v, e, false)
	}))

	solution := k.command("solution", "Show our lock for the exercise that you have passed", words(0, 0),
		text(func(f folder.Folder, v kata.View) (string, error) {
			p, err := f.Progress()
			if err == nil && p.Exercise != "" && !p.HasPassed(p.Exercise) && !anyway {
				err = hintFirstText.Args("id", p.Exercise, "dir", f.Flag)
			}
			if err != nil {
				return "", err
			}
			return kata.Solution(f, v)
		}))
	solution.Flags().BoolVar(&anyway, "yes", false, "show it before the exercise is passed")

	reset := k.command("reset", "Start the exercise again; what you wrote is kept", words(0, 0),
		text(func(f folder.Folder, _ kata.View) (string, error) {
			message, err := f.Reset(all)
			return message.Localize(k.lang) + "\n", err
		}))
	reset.Flags().BoolVar(&all, "all", false, "start with the first exercise again, as if none were passed")

	cmd.AddCommand(helpCommand(), start, next, k.checkCommand(), k.exploreCommand(), solution, reset,
		k.command("hint", "Show the next hint", words(0, 0), text(kata.Hint)),
		k.command("status", "List the exercises and how far you are", words(0, 0), text(kata.Status)),
	)
	return cmd
}

type kataApp struct {
	*app
	dir string
	all bool // draws also long runs whole
}

// folder returns the learner's folder and how to draw output about it.
func (k *kataApp) folder() (folder.Folder, kata.View, error) {
	view := kata.View{Color: k.color, Width: k.width, Lang: k.lang, All: k.all}
	root, err := apart.FindRoot(".")
	if info, statErr := os.Stat(k.dir); statErr == nil && !info.IsDir() {
		err = notFolderText.Args("name", k.dir)
	}
	if err != nil || k.dir == "" {
		return folder.Folder{Root: root, Dir: filepath.Join(root, "mylock"), Language: k.lang}, view, err
	}
	flag := " --dir " + k.dir
	if strings.ContainsAny(k.dir, " '()&;") {
		flag = " --dir " + strconv.Quote(k.dir)
	}
	dir, err := filepath.Abs(k.dir)
	if real, linkErr := filepath.EvalSymlinks(dir); linkErr == nil {
		dir = real // the go command resolves symbolic links
	}
	return folder.Folder{Root: root, Dir: dir, Flag: flag, Language: k.lang}, view, err
}

var (
	notFolderText  = i18n.New("{name} is a file: name a folder")
	nextStepText   = i18n.New("Next: write it, then go run . kata check{dir}; or run go run . kata{dir} in a second terminal.")
	notPassedText  = i18n.New("exercise {id} is not passed yet")
	brokenLockText = i18n.New("a schedule breaks your lock")
	hintFirstText  = i18n.New("exercise {id} is not passed yet: go run . kata hint{dir} first, or --yes to see the solution anyway")
)

// runner runs a command about the learner's folder and returns its output.
type runner func(context.Context, folder.Folder, kata.View, []string) (string, error)

// text returns a runner that prints a text about the folder.
func text(about func(folder.Folder, kata.View) (string, error)) runner {
	return func(_ context.Context, f folder.Folder, v kata.View, _ []string) (string, error) { return about(f, v) }
}

// command returns a command about the learner's folder.
func (k *kataApp) command(use, short string, args cobra.PositionalArgs, run runner) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		f, view, err := k.folder()
		if err != nil {
			return err
		}
		printed, err := run(cmd.Context(), f, view, args)
		if err == nil {
			fmt.Fprint(k.out, printed)
		}
		return err
	}}
}

func (k *kataApp) start(f folder.Folder, v kata.View, e exercises.Exercise, afresh bool) (string, error) {
	message, err := f.Start(e, afresh)
	if err != nil {
		return "", err
	}
	task, err := kata.Task(f, v)
	fmt.Fprint(k.out, task)
	k.prose("", 0, message.Localize(k.lang))
	k.prose("", 0, k.say(nextStepText, "dir", f.Flag))
	return "", err
}

// finding is the result of a check or a search.
type finding interface {
	ForJSON() any
	Screen(kata.View) string
}

// examination returns a command that runs the lock and prints the finding; as JSON it is in
// English. The command fails if the finding is bad news.
func (k *kataApp) examination(
	name, short, jsonUsage string, examine func(context.Context, folder.Folder, i18n.Language) (f finding, bad, err error),
) *cobra.Command {
	var asJSON bool
	cmd := k.command(name, short, words(0, 0), func(ctx context.Context, f folder.Folder, v kata.View, _ []string) (string, error) {
		language := k.lang
		if asJSON {
			language = i18n.English
		}
		found, bad, err := examine(ctx, f, language)
		k.doing("")
		if err != nil {
			return "", err
		}
		if asJSON {
			err = k.printJSON(found.ForJSON())
		} else {
			fmt.Fprint(k.out, found.Screen(v))
		}
		if bad != nil {
			bad = failedError{bad}
		}
		return "", cmp.Or(err, bad)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, jsonUsage)
	return cmd
}

func (k *kataApp) checkCommand() *cobra.Command {
	cmd := k.examination("check", "Compile your lock and run the failures on it, once", "print every verdict, with its trace, as JSON",
		func(ctx context.Context, f folder.Folder, language i18n.Language) (finding, error, error) {
			r, err := kata.Check(ctx, f, language, k.tell)
			if !r.Passed {
				return r, notPassedText.Args("id", r.Exercise.ID), err
			}
			return r, nil, err
		})
	cmd.Flags().BoolVar(&k.all, "all", false, "draw the whole run, however long")
	return cmd
}

func (k *kataApp) exploreCommand() *cobra.Command {
	var query exercises.Query
	cmd := k.examination("explore", "Search all schedules of your lock, up to a bound, for one that breaks it",
		"print what was found, with its traces, as JSON",
		func(ctx context.Context, f folder.Folder, language i18n.Language) (finding, error, error) {
			r, err := kata.Search(ctx, f, query, language, k.tell)
			if r.IsBroken() {
				return r, brokenLockText.Args(), err
			}
			return r, nil, err
		})
	cmd.Long = "explore runs your lock under every schedule of two clients, as lockkata explore does with the stages, " +
		"and draws the shortest one that breaks each property, with your own lines. The properties and environments are " +
		"those of lockkata explore --help."
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return inRange(cmd, "bound", 0, 9) }
	f := cmd.Flags()
	f.StringVar(&query.Property, "property", "", "only this property")
	f.StringVar(&query.Env, "env", "", "only this environment")
	f.IntVar(&query.Bound, "bound", -1, "the most faults, 0 to 9; without it, each search has its own bound")
	return cmd
}
