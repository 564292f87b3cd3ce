package kata

import (
	"path"
	"regexp"
	"strings"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
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
	hintHeads   = [3]i18n.Text{i18n.New("Hint 1"), i18n.New("Hint 2"), i18n.New("Hint 3")}
	fixedHead   = i18n.New("What you have fixed")
	predictHead = i18n.New("What happens next?")
	blindHead   = i18n.New("Why the search does not see it")
	askedHead   = i18n.New("The interviewer's next question")
)

// Text reads the exercise's README.
func (e Exercise) Text(l i18n.Language) (t Text) {
	task, parts := sections(e.readme(l))
	part := func(head i18n.Text) string { return parts[head.Localize(l)] }
	t.Title, t.Task, _ = strings.Cut(task, "\n\n")
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

// sections splits a file at its second-level headings: the text before them, and the text below
// each.
func sections(text string) (first string, parts map[string]string) {
	all := strings.Split(text, "\n## ")
	parts = map[string]string{}
	for _, part := range all[1:] {
		head, body, _ := strings.Cut(part, "\n")
		parts[head] = strings.TrimSpace(body)
	}
	return strings.TrimSpace(all[0]), parts
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// markdown formats text for a terminal: paragraphs and list items are wrapped, code is not, and a
// link is replaced by its text.
func (v View) markdown(text string) string {
	out, head, paragraph, isCode := "", "", "", false
	end := func() {
		if paragraph != "" {
			plain := link.ReplaceAllString(paragraph, "$1")
			out += strings.Join(term.Beside(head, plain, min(v.Width, prose)), "\n") + "\n"
		}
		head, paragraph = "", ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch item, isItem := strings.CutPrefix(line, "- "); {
		case strings.HasPrefix(line, "```"):
			end()
			isCode = !isCode
		case isCode:
			out += strings.TrimRight("    "+line, " ") + "\n"
		case line == "":
			end()
			out += "\n"
		case isItem:
			end()
			head, paragraph = "- ", item
		default:
			paragraph = term.Joined(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return out
}
