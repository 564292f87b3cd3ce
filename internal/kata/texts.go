package kata

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Task returns the task of the present exercise, and where the lock is.
func (f Folder) Task(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	return e.headline(v) + v.markdown(e.Text(v.Lang).Task) + "\n" + v.say(lockIsIn, "dir", f.Dir) + "\n", nil
}

// Texts about an exercise.
var (
	hintFor     = i18n.New("Hint for {failure}: {hint}")
	hintIs      = i18n.New("Hint {n} of {all}: {hint}")
	explained   = i18n.New("The explanation comes when the exercise is passed.")
	hasFixed    = i18n.New("What you have fixed: {what}")
	searchBlind = i18n.New("Why the search does not see it: {why}")
	asksNext    = i18n.New("The interviewer's next question: {question}")
	manyFiles   = i18n.New("Our lock has {n} files and is in {dir} of the repository. Begin with service.go; {page} explains its" +
		" design. Its Subject is in internal/stages/subject6.")
	unchanged = i18n.New("Nothing has changed since the start.")
	hintsSeen = i18n.NewPlural("{n} hint", "{n} hints")
	underWay  = i18n.New("Exercise {id} is under way in {dir}")
	lockIsIn  = i18n.New("Your lock is in {dir}")
)

// Hint returns the next hint of the present exercise. The first one after a failed check is how to
// fix that failure. After the last hint it returns the last one again.
func (f Folder) Hint(v View) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if shown, _ := catalogue.Find(p.Failed); shown.Fixed != "" && p.Hinted != shown.ID {
		p.Hinted = shown.ID
		return v.wrapped(v.say(hintFor, "failure", shown.ID, "hint", i18n.Text(shown.Fixed))), f.save(p)
	}
	hints := e.Text(v.Lang).Hints
	if p.Hints[e.ID] < len(hints) {
		p.Hints[e.ID]++
		err = f.save(p)
	}
	n := p.Hints[e.ID]
	return v.markdown(v.say(hintIs, "n", n, "all", len(hints), "hint", hints[n-1])), err
}

// Explain returns what the present exercise has taught, once it is passed.
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

// taught returns what was fixed, and why no search finds the mistake, if none does.
func (e Exercise) taught(v View) string {
	t := e.Text(v.Lang)
	text := v.markdown(v.say(hasFixed, "what", t.Fixed))
	if t.Blind != "" {
		text += "\n" + v.markdown(v.say(searchBlind, "why", t.Blind))
	}
	return text
}

func (e Exercise) question(v View) string {
	return v.markdown(v.say(asksNext, "question", e.Text(v.Lang).Question))
}

// mostShown is how many files a solution may have to be printed.
const mostShown = 12

// Solution returns our lock for the present exercise.
func (f Folder) Solution(v View) (string, error) {
	e, _, err := f.present()
	if err != nil {
		return "", err
	}
	ours := stageOf(e.Lock)
	if all, err := ours.Files(os.DirFS(f.Root)); err != nil || len(all) > mostShown {
		return v.wrapped(v.say(manyFiles, "n", len(all), "dir", ours.Dir, "page", e.Read)), err
	}
	files, err := e.Solution(os.DirFS(f.Root))
	text := ""
	for _, name := range files.Names() {
		text += v.line(term.Bold, "// "+name) + files[name] + "\n"
	}
	return text, err
}

// Diff returns what the learner has changed since the start.
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
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(start.Names(), now.Names()...)))) {
		for line := range strings.Lines(udiff.Unified("start/"+name, name, start[name], now[name])) {
			text += v.Color.Diff(strings.TrimSuffix(line, "\n")) + "\n"
		}
	}
	if text == "" {
		text = v.say(unchanged) + "\n"
	}
	return text, err
}

// Status lists the exercises with the learner's progress.
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
		text += fmt.Sprintf(" %s %-3s  %s%s\n", sign, e.ID, e.Text(v.Lang).Title, note)
	}
	text += "\n" + p.bar(v)
	if p.Exercise != "" {
		text += v.say(underWay, "id", p.Exercise, "dir", f.Dir) + "\n"
	}
	return text, nil
}

// Text is the text of an exercise in one language, as Markdown.
type Text struct {
	Title, Task string
	Hints       [3]string // the last is almost the answer
	Fixed       string    // shown after a pass
	Predict     string    // the question of the prediction
	Choices     []string  // as many as the prediction's Means
	Blind       string    // why no search finds the mistake; "" if one does
	Question    string    // the interviewer's next question
}

// The headings of a README.
var (
	hintHeads   = [3]i18n.Text{i18n.New("Hint 1"), i18n.New("Hint 2"), i18n.New("Hint 3")}
	fixedHead   = i18n.New("What you have fixed")
	predictHead = i18n.New("What happens next?")
	blindHead   = i18n.New("Why the search does not see it")
	askedHead   = i18n.New("The interviewer's next question")
)

// Text reads the exercise's README.
func (e Exercise) Text(l i18n.Language) (t Text) {
	sections := strings.Split(e.readme(l), "\n## ")
	part := func(head i18n.Text) string {
		for _, section := range sections {
			if body, is := strings.CutPrefix(section, head.Localize(l)+"\n"); is {
				return strings.TrimSpace(body)
			}
		}
		return ""
	}
	t.Title, t.Task, _ = strings.Cut(strings.TrimSpace(sections[0]), "\n\n")
	_, t.Title, _ = strings.Cut(t.Title, " · ")
	for i, head := range hintHeads {
		t.Hints[i] = part(head)
	}
	t.Fixed, t.Blind = part(fixedHead), part(blindHead)
	choices := strings.Split(part(predictHead), "\n- ")
	t.Predict, t.Choices = strings.TrimSpace(choices[0]), choices[1:]
	t.Question, _, _ = strings.Cut(part(askedHead), "\n\n") // the rest is the link to the answer
	return t
}

func (e Exercise) readme(l i18n.Language) string {
	name := "README.md"
	if l == i18n.Chinese {
		name = "README.zh-CN.md"
	}
	raw, _ := exercises.ReadFile(path.Join("exercises", e.Folder, name)) // a test wants every one
	return string(raw)
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// markdown formats text for a terminal. A link is replaced by its text.
func (v View) markdown(text string) string {
	return term.Markdown(text, min(v.Width, prose), func(paragraph string) string { return link.ReplaceAllString(paragraph, "$1") })
}
