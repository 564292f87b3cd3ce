package kata

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// Task returns the task of the present exercise, and where the lock is.
func Task(f folder.Folder, v View) (string, error) {
	e, _, err := f.Present()
	if err != nil {
		return "", err
	}
	return v.headline(e) + v.markdown(e.Text(v.Lang).Task) + "\n" + v.say(lockFolderText, "dir", f.Dir) + "\n", nil
}

// Texts about an exercise.
var (
	failureHintText   = i18n.New("Hint for {failure}: {hint}")
	hintText          = i18n.New("Hint {n} of {all}: {hint}")
	noExplanationText = i18n.New("The explanation comes when the exercise is passed.")
	fixText           = i18n.New("What you have fixed: {what}")
	blindText         = i18n.New("Why the search does not see it: {why}")
	interviewText     = i18n.New("The interviewer's next question: {question}")
	manyFilesText     = i18n.New("Our lock has {n} files and is in {dir} of the repository. Begin with service.go; {page} explains its" +
		" design. Its Subject is in internal/stages/subject6.")
	noChangeText        = i18n.New("Nothing has changed since the start.")
	hintCountText       = i18n.NewPlural("{n} hint", "{n} hints")
	presentExerciseText = i18n.New("Exercise {id} is under way in {dir}")
	lockFolderText      = i18n.New("Your lock is in {dir}")
)

// Hint returns the next hint of the present exercise. After the exercise's first one, the next after a failed
// check is how to fix that failure, unless the check has shown it. After the last hint it returns the last one again.
func Hint(f folder.Folder, v View) (string, error) {
	e, p, err := f.Present()
	if err != nil {
		return "", err
	}
	if failed, _ := catalogue.Find(p.Failed); p.Hints[e.ID] > 0 && failed.Fixed != "" && !showsFix(failed) && p.Hinted != failed.ID {
		p.Hinted = failed.ID
		return v.wrapped(v.say(failureHintText, "failure", failed.ID, "hint", i18n.Text(failed.Fixed))), f.Save(p)
	}
	hints := e.Text(v.Lang).Hints
	if p.Hints[e.ID] < len(hints) {
		p.Hints[e.ID]++
		err = f.Save(p)
	}
	n := p.Hints[e.ID]
	return v.markdown(v.say(hintText, "n", n, "all", len(hints), "hint", hints[n-1])), err
}

// Explain returns what the present exercise has taught, once it is passed.
func Explain(f folder.Folder, v View) (string, error) {
	e, p, err := f.Present()
	switch {
	case err != nil:
		return "", err
	case !p.HasPassed(e.ID):
		return v.say(noExplanationText) + "\n", nil
	}
	return v.lesson(e) + "\n" + v.question(e), nil
}

// lesson returns what was fixed, and why no search finds the mistake, if none does.
func (v View) lesson(e exercises.Exercise) string {
	t := e.Text(v.Lang)
	text := v.markdown(v.say(fixText, "what", t.Fixed))
	if t.Blind != "" {
		text += "\n" + v.markdown(v.say(blindText, "why", t.Blind))
	}
	return text
}

func (v View) question(e exercises.Exercise) string {
	return v.markdown(v.say(interviewText, "question", e.Text(v.Lang).Question))
}

// mostShown is how many files a solution may have to be printed.
const mostShown = 12

// Solution returns our lock for the present exercise.
func Solution(f folder.Folder, v View) (string, error) {
	e, _, err := f.Present()
	if err != nil {
		return "", err
	}
	ours := stages.MustFind(e.Lock)
	if all, err := ours.Files(os.DirFS(f.Root)); err != nil || len(all) > mostShown {
		return v.wrapped(v.say(manyFilesText, "n", len(all), "dir", ours.Dir, "page", e.Read)), err
	}
	files, err := e.Solution(os.DirFS(f.Root))
	text := ""
	for _, name := range files.Names() {
		text += v.line(term.Bold, "// "+name) + files[name] + "\n"
	}
	return text, err
}

// Diff returns what the learner has changed since the start.
func Diff(f folder.Folder, v View) (string, error) {
	e, _, err := f.Present()
	if err != nil {
		return "", err
	}
	start, err := f.Begun(e.ID)
	if err != nil {
		return "", err
	}
	now, err := f.Lock()
	text := ""
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(start.Names(), now.Names()...)))) {
		for line := range strings.Lines(udiff.Unified("start/"+name, name, start[name], now[name])) {
			text += v.Color.Diff(strings.TrimSuffix(line, "\n")) + "\n"
		}
	}
	if text == "" {
		text = v.say(noChangeText) + "\n"
	}
	return text, err
}

// Status lists the exercises with the learner's progress.
func Status(f folder.Folder, v View) (string, error) {
	p, err := f.Progress()
	if err != nil {
		return "", err
	}
	text := ""
	for _, e := range exercises.All {
		sign, note := " ", ""
		switch {
		case p.HasPassed(e.ID):
			sign = v.Color.Paint(term.Green, "✓")
		case e.ID == p.Exercise:
			sign = v.Color.Paint(term.Yellow, "▸")
		}
		if n := p.Hints[e.ID]; n > 0 {
			note = v.Color.Paint(term.Dim, "   "+hintCountText.Of(n).Localize(v.Lang))
		}
		text += fmt.Sprintf(" %s %-3s  %s%s\n", sign, e.ID, e.Text(v.Lang).Title, note)
	}
	text += "\n" + v.bar(p)
	if p.Exercise != "" {
		text += v.say(presentExerciseText, "id", p.Exercise, "dir", f.Dir) + "\n"
	}
	return text, nil
}
