package exercises

import (
	"path"
	"strings"

	"lockkata/internal/i18n"
)

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
	hintHeads    = [3]i18n.Text{i18n.New("Hint 1"), i18n.New("Hint 2"), i18n.New("Hint 3")}
	fixHead      = i18n.New("What you have fixed")
	predictHead  = i18n.New("What happens next?")
	blindHead    = i18n.New("Why the search does not see it")
	questionHead = i18n.New("The interviewer's next question")
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
	t.Fixed, t.Blind = part(fixHead), part(blindHead)
	choices := strings.Split(part(predictHead), "\n- ")
	t.Predict, t.Choices = strings.TrimSpace(choices[0]), choices[1:]
	t.Question, _, _ = strings.Cut(part(questionHead), "\n\n") // the rest is the link to the answer
	return t
}

func (e Exercise) readme(l i18n.Language) string {
	name := "README.md"
	if l == i18n.Chinese {
		name = "README.zh-CN.md"
	}
	raw, _ := data.ReadFile(path.Join(e.Folder, name)) // a test wants every one
	return string(raw)
}
