package cli

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"lockkata/internal/stages"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff STAGE",
		Short: "What a stage changes in the lock of the stage before",
		Long: "diff prints what stage N changes in the lock of stage N-1. Package comments and the\n" +
			"stage's own name are left out: what remains is the lesson.",
		Args: exactlyOne("stage", diffStages()),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return fmt.Errorf("%q is no stage; there are: %s", args[0], strings.Join(diffStages(), ", "))
			}
			return a.diff(n)
		},
	}
}

// diffStages are the stages that have one before them.
func diffStages() []string {
	var numbers []string
	for _, s := range stages.All[1:] {
		numbers = append(numbers, strconv.Itoa(s.Number))
	}
	return numbers
}

func (a *app) diff(n int) error {
	after, err := findStage(n)
	if err != nil {
		return err
	}
	if n == stages.All[0].Number {
		return fmt.Errorf("stage %d is the first; diff takes: %s", n, strings.Join(diffStages(), ", "))
	}
	before, err := findStage(n - 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n\n", a.paint("1", fmt.Sprintf("From stage %d to stage %d: %s", before.Number, after.Number, after.Lesson)))
	names, err := lockFiles(a.sources, after.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		old, err := lesson(a.sources, path.Join(before.Dir, name))
		if err != nil {
			return err
		}
		now, err := lesson(a.sources, path.Join(after.Dir, name))
		if err != nil {
			return err
		}
		a.printDiff(udiff.Unified(path.Join(before.Dir, name), path.Join(after.Dir, name), old, now))
	}
	return nil
}

// lockFiles are the files of a stage that make the lock.
func lockFiles(sources fs.FS, dir string) ([]string, error) {
	all, err := fs.Glob(sources, dir+"/*.go")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range all {
		if !strings.HasSuffix(p, "_test.go") {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
}

var stageName = regexp.MustCompile(`\bstage[1-9]\b`)

// lesson is a file without what differs between any two stages: the package
// comment and the stage's name. A file that does not exist is empty.
func lesson(sources fs.FS, name string) (string, error) {
	if _, err := fs.Stat(sources, name); err != nil {
		return "", nil
	}
	raw, err := fs.ReadFile(sources, name)
	if err != nil {
		return "", err
	}
	text := string(raw)
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at+1:]
	}
	return stageName.ReplaceAllString(text, "stage"), nil
}

func (a *app) printDiff(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			line = a.paint("1", line)
		case strings.HasPrefix(line, "@@"):
			line = a.paint("36", line)
		case strings.HasPrefix(line, "-"):
			line = a.paint("31", line)
		case strings.HasPrefix(line, "+"):
			line = a.paint("32", line)
		}
		fmt.Fprintln(a.out, line)
	}
}
