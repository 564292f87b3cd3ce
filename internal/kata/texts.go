package kata

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Task returns what the present exercise asks for, and where the lock is.
func (f Folder) Task(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	return e.headline(v) + v.wrapped(v.say(e.Story)) + "\n" + v.say(lockIsIn, "dir", f.Dir) + "\n", nil
}

var (
	hintIs      = i18n.New("Hint {n} of {all}: {hint}")
	explained   = i18n.New("The explanation comes when the exercise is passed.")
	hasFixed    = i18n.New("What you have fixed: {what}")
	searchBlind = i18n.New("Why the search does not see it: {why}")
	asksNext    = i18n.New("The interviewer's next question: {question}")
	manyFiles   = i18n.New("Our lock has {n} files and is in {dir} of the repository. Begin with " +
		"service.go; {page} says why it is as it is. Its adapter is {adapter}.")
	unchanged = i18n.New("Nothing has changed since the start.")
	hintsSeen = i18n.NewPlural("{n} hint", "{n} hints")
	underWay  = i18n.New("Exercise {id} is under way in {dir}")
	lockIsIn  = i18n.New("Your lock is in {dir}")
)

// Hint is the next hint of the present exercise, after the ones that have been
// seen. Beyond the last it is the last.
func (f Folder) Hint(v View) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if p.Hints[e.ID] < len(e.Hints) {
		p.Hints[e.ID]++
		err = f.save(p)
	}
	n := p.Hints[e.ID]
	return v.wrapped(v.say(hintIs, "n", n, "all", len(e.Hints), "hint", e.Hints[n-1])), err
}

// Explain says what the present exercise has taught, once it is passed.
func (f Folder) Explain(v View) (string, error) {
	e, p, err := f.present()
	switch {
	case err != nil:
		return "", err
	case !p.HasPassed(e.ID):
		return v.say(explained) + "\n", nil
	}
	return e.taught(v) + "\n" + e.question(v), nil
}

// taught is what has been fixed, and where no search finds the mistake, why.
func (e Exercise) taught(v View) string {
	text := v.wrapped(v.say(hasFixed, "what", e.Fixed))
	if e.Search.Blind != "" {
		text += "\n" + v.wrapped(v.say(searchBlind, "why", e.Search.Blind))
	}
	return text
}

func (e Exercise) question(v View) string {
	return v.wrapped(v.say(asksNext, "question", e.Question))
}

// mostShown is how many files a solution may have to be printed: those of a step are fewer.
const mostShown = 12

// Solution is our lock for the present exercise.
func (f Folder) Solution(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	files, err := e.Solution.Files(os.DirFS(f.Root))
	if len(files) > mostShown {
		dir := column(e.Solution.Column).Dir
		return v.wrapped(v.say(manyFiles, "n", len(files), "dir", dir, "page", e.Read, "adapter", e.Solution.Adapter)), err
	}
	text := ""
	for _, name := range files.names() {
		text += v.line(term.Bold, "// "+name) + files[name] + "\n"
	}
	return text, err
}

// Diff is what the learner has changed since the start.
func (f Folder) Diff(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	start, err := f.lock(began(e.ID))
	if err != nil {
		return "", err
	}
	now, err := f.Lock()
	text := ""
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(start.names(), now.names()...)))) {
		for line := range strings.Lines(udiff.Unified("start/"+name, name, start[name], now[name])) {
			text += v.Color.Diff(strings.TrimSuffix(line, "\n")) + "\n"
		}
	}
	if text == "" {
		text = v.say(unchanged) + "\n"
	}
	return text, err
}

// Status lists the exercises and how far the learner is.
func (f Folder) Status(v View) (string, error) {
	p, err := f.Progress()
	if err != nil {
		return "", err
	}
	text := ""
	for _, e := range All {
		sign, note := " ", ""
		switch {
		case p.HasPassed(e.ID):
			sign = v.Color.Paint(term.Green, "✓")
		case e.ID == p.Exercise:
			sign = v.Color.Paint(term.Yellow, "▸")
		}
		if n := p.Hints[e.ID]; n > 0 {
			note = v.Color.Paint(term.Dim, "   "+hintsSeen.Of(n).Localize(v.Lang))
		}
		text += fmt.Sprintf(" %s %-3s  %s%s\n", sign, e.ID, v.say(e.Title), note)
	}
	text += "\n" + p.bar(v)
	if p.Exercise != "" {
		text += v.say(underWay, "id", p.Exercise, "dir", f.Dir) + "\n"
	}
	return text, nil
}
