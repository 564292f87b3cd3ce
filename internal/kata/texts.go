package kata

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// Task tells what the present exercise is about.
func (f Folder) Task(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\n\n%s", e.headline(v), v.wrap(e.Story)), nil
}

// Hint is the next hint of the present exercise, after the ones that have been
// seen. Beyond the last it is the last.
func (f Folder) Hint(v View) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if p.Hints[e.Number] < len(e.Hints) {
		p.Hints[e.Number]++
		if err := f.save(p); err != nil {
			return "", err
		}
	}
	n := p.Hints[e.Number]
	return v.wrap(fmt.Sprintf("Hint %d of %d: %s", n, len(e.Hints), e.Hints[n-1])), nil
}

// Explain says what the present exercise has taught, once it is passed.
func (f Folder) Explain(v View) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if !p.HasPassed(e.Number) {
		return "The explanation comes when the exercise is passed.\n", nil
	}
	return v.wrap("What you have fixed: "+e.Fixed) + e.unseen(v) + "\n" + v.wrap("The interviewer's next question: "+e.Question), nil
}

// unseen says why no search finds the mistake, where none does.
func (e Exercise) unseen(v View) string {
	if e.Search.Blind == "" {
		return ""
	}
	return "\n" + v.wrap("Why the search does not see it: "+e.Search.Blind)
}

// Solution is our lock for the present exercise.
func (f Folder) Solution(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	files, err := e.Solution.Files(os.DirFS(f.Root))
	if err != nil {
		return "", err
	}
	if len(files) > mostShown {
		dir := stages.All[e.Solution.Stage-1].Dir
		return v.wrap(fmt.Sprintf("The solution has %d files and is in %s of the repository. Begin with service.go; docs/final-lock.md says why it is as it is. Its adapter is %s.", len(files), dir, e.Solution.Adapter)), nil
	}
	var b strings.Builder
	for _, name := range files.names() {
		fmt.Fprintf(&b, "%s\n%s\n", v.Color.Paint(term.Bold, "// "+name), files[name])
	}
	return b.String(), nil
}

// mostShown is how many files a solution may have to be printed.
const mostShown = 4

// Diff is what the learner has changed since the start.
func (f Folder) Diff(v View) (string, error) {
	if _, _, err := f.present(); err != nil {
		return "", err
	}
	start, err := readFiles(filepath.Join(f.Dir, "_start"))
	if err != nil {
		return "", err
	}
	now, err := f.Lock()
	if err != nil {
		return "", err
	}
	names := slices.Compact(slices.Sorted(slices.Values(append(start.names(), now.names()...))))
	var b strings.Builder
	for _, name := range names {
		for line := range strings.Lines(udiff.Unified("start/"+name, name, start[name], now[name])) {
			b.WriteString(v.Color.Diff(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	if b.Len() == 0 {
		return "Nothing has changed since the start.\n", nil
	}
	return b.String(), nil
}

// Status lists the exercises and how far the learner is.
func (f Folder) Status(v View) (string, error) {
	p, err := f.Progress()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range All {
		sign := " "
		switch {
		case p.HasPassed(e.Number):
			sign = v.Color.Paint(term.Green, "✓")
		case e.Number == p.Exercise:
			sign = v.Color.Paint(term.Yellow, "▸")
		}
		note := ""
		if n := p.Hints[e.Number]; n > 0 {
			note = v.Color.Paint(term.Dim, fmt.Sprintf("   %s", counted(n, "hint", "hints")))
		}
		fmt.Fprintf(&b, " %s %2d  %s%s\n", sign, e.Number, e.Title, note)
	}
	fmt.Fprintf(&b, "\n%d of %d passed", len(p.Passed), len(All))
	if p.Exercise > 0 {
		fmt.Fprintf(&b, "; exercise %d is under way in %s", p.Exercise, f.Dir)
	}
	return b.String() + "\n", nil
}
