package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
	"lockkata/internal/kata"
)

// kataFolder is where a learner works who names no other folder.
const kataFolder = "mylock"

// kataCommand is "kata": without a subcommand it stays open and checks at each
// save.
func (a *app) kataCommand() *cobra.Command {
	k := &kataApp{app: a}
	cmd := k.command("kata", "Write the lock yourself, and let the failures find your bug", noArguments,
		func(ctx context.Context, f kata.Folder, v kata.View, _ []string) error {
			return kata.Loop(ctx, f, v, os.Stdin, k.out)
		})
	cmd.Long = "kata checks the lock that you write, at each save, and shows one thing at a time: the " +
		"compiler's first error, or the first failure that shows, drawn with your own lines. " +
		"Begin with \"kata start\"."
	cmd.PersistentFlags().StringVar(&k.dir, "dir", "", "the folder of your lock (default mylock in the repository)")
	cmd.AddCommand(
		helpCommand(), k.startCommand(),
		k.command("next", "Go on with the next exercise", noWords, k.next),
		k.checkCommand(), k.exploreCommand(), k.solutionCommand(), k.resetCommand(),
		k.textCommand("hint", "Show the next hint", kata.Folder.Hint),
		k.textCommand("status", "List the exercises and how far you are", kata.Folder.Status),
	)
	return cmd
}

type kataApp struct {
	*app
	dir string
}

// folder is where the learner works, and how the learner's commands look.
func (k *kataApp) folder() (kata.Folder, kata.View, error) {
	view := kata.View{Color: k.color, Width: k.width, Lang: k.lang}
	if err := maybeFolder(k.dir); err != nil {
		return kata.Folder{}, view, err
	}
	root, err := kata.FindRoot(".")
	if err != nil {
		return kata.Folder{}, view, err
	}
	if k.dir == "" {
		return kata.Folder{Root: root, Dir: filepath.Join(root, kataFolder)}, view, nil
	}
	view.Dir = " --dir " + shellWord(k.dir)
	dir, err := filepath.Abs(k.dir)
	if real, linkErr := filepath.EvalSymlinks(dir); linkErr == nil {
		dir = real // as the go command names the repository
	}
	return kata.Folder{Root: root, Dir: dir}, view, err
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord quotes a word where a shell needs it.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}

// command is a command about the learner's folder. Ctrl-C ends its context, so that
// nothing is left behind.
func (k *kataApp) command(
	use, short string, args cobra.PositionalArgs, run func(context.Context, kata.Folder, kata.View, []string) error,
) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, args []string) error {
		f, view, err := k.folder()
		if err != nil {
			return err
		}
		ctx, stop := untilInterrupted(k.t.Context())
		defer stop()
		if err = run(ctx, f, view, args); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}}
}

// textCommand is a command that prints a text about the folder.
func (k *kataApp) textCommand(name, short string, text func(kata.Folder, kata.View) (string, error)) *cobra.Command {
	return k.command(name, short, noWords, func(_ context.Context, f kata.Folder, v kata.View, _ []string) error {
		printed, err := text(f, v)
		if err == nil {
			fmt.Fprint(k.out, printed)
		}
		return err
	})
}

var manyExercises = i18n.New("start takes one exercise at most, not {n}: {words}")

// oneExercise refuses a second argument.
func oneExercise(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return manyExercises.Args("n", len(args), "words", strings.Join(args, " "))
	}
	return nil
}

func (k *kataApp) startCommand() *cobra.Command {
	var afresh bool
	cmd := k.command("start [N]", "Begin exercise N, or go on with it (default: the first that you have not passed)", oneExercise,
		func(_ context.Context, f kata.Folder, v kata.View, args []string) error {
			p, err := f.Progress()
			e := p.Next()
			if err == nil && len(args) > 0 {
				e, err = kata.Find(args[0])
			}
			if err != nil {
				return err
			}
			return k.begin(f, v, e, afresh)
		})
	cmd.Flags().BoolVar(&afresh, "fresh", false, "begin it anew; what you wrote is kept")
	return cmd
}

// next begins the exercise after the present one, once that has passed.
func (k *kataApp) next(_ context.Context, f kata.Folder, v kata.View, _ []string) error {
	e, err := f.Next()
	if err != nil {
		return err
	}
	return k.begin(f, v, e, false)
}

var lockIsIn = i18n.New("Your lock is in {folder}\nNext: write it, then go run . kata check{dir}; or " +
	"leave go run . kata{dir} open while you write.")

func (k *kataApp) begin(f kata.Folder, v kata.View, e kata.Exercise, afresh bool) error {
	said, err := f.Start(e, afresh)
	if err != nil {
		return err
	}
	task, err := f.Task(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(k.out, "%s\n%s\n%s\n", task, said.Localize(k.lang), k.say(lockIsIn, "folder", f.Dir, "dir", v.Dir))
	return nil
}

// finding is what a check or an exploration has found.
type finding interface {
	Told() any // for JSON
	Screen(kata.View) string
}

// print prints a finding. One that is bad news is an error.
func (k *kataApp) print(f finding, v kata.View, asJSON bool, bad error) error {
	if asJSON {
		if err := k.printJSON(f.Told()); err != nil {
			return err
		}
	} else {
		fmt.Fprint(k.out, f.Screen(v))
	}
	if bad != nil {
		return failedError{bad}
	}
	return nil
}

// What a command ends with that is bad news.
var (
	notPassed = i18n.New("exercise {id} is not passed yet")
	isBroken  = i18n.New("a schedule breaks your lock")
	hintFirst = i18n.New("exercise {id} is not passed yet: go run . kata hint{dir} first, or --yes to see the solution all the same")
)

// judged is the language of what is said of a lock: JSON is English.
func (k *kataApp) judged(asJSON bool) i18n.Language {
	if asJSON {
		return i18n.English
	}
	return k.lang
}

func (k *kataApp) checkCommand() *cobra.Command {
	var asJSON bool
	cmd := k.command("check", "Compile your lock and run the failures on it, once", noWords,
		func(ctx context.Context, f kata.Folder, v kata.View, _ []string) error {
			r, err := kata.Check(ctx, f, k.judged(asJSON), k.tell)
			k.doing("")
			if err != nil {
				return err
			}
			var bad error
			if !r.Passed {
				bad = notPassed.Args("id", r.Exercise.ID)
			}
			return k.print(r, v, asJSON, bad)
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every verdict, with its trace, as JSON")
	return cmd
}

func (k *kataApp) exploreCommand() *cobra.Command {
	var asked kata.Exploring
	var asJSON bool
	cmd := k.command("explore", "Search all schedules of your lock, up to a bound, for one that breaks it", noWords,
		func(ctx context.Context, f kata.Folder, v kata.View, _ []string) error {
			x, err := kata.Explore(ctx, f, asked, k.judged(asJSON), k.tell)
			k.doing("")
			if err != nil {
				return err
			}
			var bad error
			if x.IsBroken() {
				bad = isBroken.Args()
			}
			return k.print(x, v, asJSON, bad)
		})
	cmd.Long = "explore runs your lock under every schedule of two clients, as lockkata explore does with the stages, " +
		"and draws the shortest one that breaks each property, with your own lines. The properties and environments are " +
		"those of lockkata explore --help."
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return checkBound(cmd, asked.Bound) }
	f := cmd.Flags()
	f.StringVar(&asked.Property, "property", "", "only this property")
	f.StringVar(&asked.Env, "env", "", "only this environment")
	f.IntVar(&asked.Bound, "bound", -1, "the highest cost, 0 to 9; without it, each search has its own")
	f.BoolVar(&asJSON, "json", false, "print what was found, with its traces, as JSON")
	return cmd
}

func (k *kataApp) solutionCommand() *cobra.Command {
	var anyway bool
	cmd := k.textCommand("solution", "Show our lock for the exercise that you have passed", func(f kata.Folder, view kata.View) (string, error) {
		p, err := f.Progress()
		if err != nil {
			return "", err
		}
		if p.Exercise != "" && !p.HasPassed(p.Exercise) && !anyway {
			return "", hintFirst.Args("id", p.Exercise, "dir", view.Dir)
		}
		return f.Solution(view)
	})
	cmd.Flags().BoolVar(&anyway, "yes", false, "show it before the exercise is passed")
	return cmd
}

func (k *kataApp) resetCommand() *cobra.Command {
	var all bool
	cmd := k.textCommand("reset", "Begin the exercise again; what you wrote is kept", func(f kata.Folder, _ kata.View) (string, error) {
		said, err := f.Reset(all)
		return said.Localize(k.lang) + "\n", err
	})
	cmd.Flags().BoolVar(&all, "all", false, "begin with the first exercise again, as if none were passed")
	return cmd
}
