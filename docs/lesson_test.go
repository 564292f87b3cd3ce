package docs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

// phrases are what the workshop says around the texts of the lesson.
type phrases struct{ ask, wrong, right, space string }

var phrasesOf = map[i18n.Language]phrases{
	i18n.English: {"**Ask.** ", "- *%d. \"%s\"* %s\n", "\n**Right: %d, \"%s\".** %s\n", " "},
	i18n.Chinese: {"**问。** ", "- *%d. “%s”* %s\n", "\n**正确答案：%d，“%s”。** %s\n", ""},
}

func languageOf(document string) i18n.Language {
	if strings.HasPrefix(document, inChinese) {
		return i18n.Chinese
	}
	return i18n.English
}

// questionOf returns a question of the lesson as the workshop asks it: 3.1 is the first one of chapter 3.
func questionOf(t *testing.T, name string, in i18n.Language) (string, error) {
	number, nth, _ := strings.Cut(name, ".")
	c, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(nth)
	if err != nil || err2 != nil || c < 0 || c >= len(lesson.Chapters) || n < 1 || n > len(lesson.Chapters[c].Parts) {
		return "", fmt.Errorf("the lesson has no question %s", name)
	}
	chapter := lesson.Chapters[c]
	p, err := chapter.Parts[n-1].Play(t, root)
	if err != nil {
		return "", err
	}
	say := phrasesOf[in]
	var texts []string
	if p.Story == "" { // else the facts are the whole situation
		texts = append(texts, chapter.Lead.Localize(in))
	}
	texts = append(texts, i18n.Each(in, slices.Concat(p.Facts, []i18n.Text{p.Ask})...)...)
	var b strings.Builder
	b.WriteString(say.ask)
	if len(p.Lines) > 0 {
		fmt.Fprintf(&b, "%s\n\n```text\n", texts[0])
		for _, line := range p.Lines {
			head, text := p.Show(line, in)
			fmt.Fprintln(&b, head+text)
		}
		b.WriteString("```\n\n")
		texts = texts[1:]
	}
	fmt.Fprintf(&b, "%s\n\n", strings.Join(texts, say.space))
	var right []string
	for i, a := range p.Answers {
		words, then := a.Words.Localize(in), a.Then.Localize(in)
		if p.Right[i] {
			right = append(right, fmt.Sprintf(say.right, i+1, words, then))
			continue
		}
		fmt.Fprintf(&b, say.wrong, i+1, words, then)
	}
	if len(right) != 1 || len(p.Moves) > 0 {
		return "", fmt.Errorf("question %s: a class votes for one number", name)
	}
	return b.String() + right[0], nil
}
