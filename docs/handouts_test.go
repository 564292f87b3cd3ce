package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

var (
	promptTitle = regexp.MustCompile(`### ((\d+)\. .*)\n`)
	beforeList  = regexp.MustCompile(`(?s)^(.*?)\n(- \*\d\. .*)$`)
	wrongAnswer = regexp.MustCompile(`(?m)^- \*(\d)\. ["“](.+?)[.。]?["”]\* \S.*$`)
	rightAnswer = regexp.MustCompile(`(?s)\n\*\*(?:Right: |正确答案：)(\d)(?:, |，)["“](.+?)["”][.。]\*\*\s+(.+?)\n\n`)
	notPrinted  = regexp.MustCompile(`(?m)^<!-- .* -->$|\*\*(?:Ask\.|问。)\*\* ?`)
	indent      = regexp.MustCompile(`(?m)^  `)
	place       = regexp.MustCompile(`(?m)^\d ▸ .*$`)
	code        = regexp.MustCompile("`([^`]+)`")
	escape      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// html returns the HTML of a paragraph.
func html(markdown string) string {
	return code.ReplaceAllString(escape.Replace(markdown), "<code>$1</code>")
}

// handoutsOf returns the prompts of a workshop and its right answers as the handouts have them.
func handoutsOf(t *testing.T, workshop string) (prompts, answers string) {
	t.Helper()
	for _, section := range strings.Split(workshop, `<a id="prompt-`)[1:] {
		section, _, _ = strings.Cut(section, "<a id=")
		title := promptTitle.FindStringSubmatch(section)
		require.NotNil(t, title, section)
		_, body, _ := strings.Cut(section, title[0])
		parts := beforeList.FindStringSubmatch(notPrinted.ReplaceAllString(body, ""))
		require.NotNil(t, parts, "%s has no answers", title[1])

		prompts += fmt.Sprintf("<div class=\"prompt\">\n<h3>%s</h3>\n", html(title[1]))
		for _, paragraph := range strings.Split(strings.TrimSpace(parts[1]), "\n\n") {
			if lines, isCode := strings.CutPrefix(paragraph, "```text\n"); isCode {
				lines = escape.Replace(indent.ReplaceAllString(strings.TrimSuffix(lines, "\n```"), ""))
				prompts += "<pre>" + place.ReplaceAllString(lines, "<b>$0</b>") + "</pre>\n"
				continue
			}
			prompts += "<p>" + html(paragraph) + "</p>\n"
		}
		list := strings.ReplaceAll(parts[2], "\n  ", " ")
		all := wrongAnswer.FindAllStringSubmatch(list, -1)
		require.Len(t, all, strings.Count("\n"+list, "\n- "), "%s: each wrong answer has a reason", title[1])
		right := rightAnswer.FindStringSubmatch(list)
		require.NotNil(t, right, "%s: the right answer has a reason", title[1])
		all = append(all, right)
		slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
		prompts += "<ol>\n"
		for i, answer := range all {
			require.Equal(t, strconv.Itoa(i+1), answer[1], title[1])
			if !strings.Contains(parts[1], "\n  "+answer[1]+" ▸ ") { // it is a place in the code
				prompts += fmt.Sprintf("<li><b>%s</b><span>%s</span></li>\n", answer[1], html(answer[2]))
			}
		}
		prompts += "</ol>\n</div>\n"
		answers += fmt.Sprintf("<tr><td>%s</td><td>%s</td><td><b>%s</b> %s</td></tr>\n", title[2], right[1], html(right[2]), html(right[3]))
	}
	return prompts, answers
}

// With -update the test writes the prompts and their answers.
func TestHandoutsHaveThePromptsOfTheWorkshop(t *testing.T) {
	for _, folder := range []string{"docs/", inChinese} {
		workshop, _ := refresh(t, documentNamed(t, folder+"workshop.md"))
		prompts, answers := handoutsOf(t, workshop)
		raw, err := fs.ReadFile(root, folder+"handouts.html")
		require.NoError(t, err)
		text := string(raw)
		for mark, fresh := range map[string]string{"<!-- prompts -->\n": prompts, "<!-- answers -->\n": answers} {
			before, after, marked := strings.Cut(text, mark)
			_, after, ended := strings.Cut(after, end)
			require.True(t, marked && ended, "%s… %s", mark, end)
			text = before + mark + fresh + end + after
		}
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("..", filepath.FromSlash(folder), "handouts.html"), []byte(text), 0o644))
			continue
		}
		require.Empty(t, udiff.Unified(folder+"handouts.html", "the workshop", string(raw), text), "out of date: go generate ./docs")
	}
}

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
