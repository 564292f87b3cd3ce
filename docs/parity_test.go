package docs_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// translated are the documents that have to be there in Chinese.
var translated = []string{
	"README.md", "docs/walkthrough.md", "docs/interview.md", "docs/cheatsheet.md", "docs/redisson.md", "docs/workshop.md", "docs/choosing.md",
	"docs/using.md", "docs/terms.md", "docs/schedules.md", "docs/inside.md",
}

// chinese is where the Chinese version of a document is.
func chinese(name string) string { return "docs/zh-CN/" + path.Base(name) }

// The Chinese documents say the same as the English ones: the same headings, anchors,
// questions, pictures, blocks and commands, in step.
func TestChineseDocumentsKeepInStep(t *testing.T) {
	for _, name := range translated {
		t.Run(chinese(name), func(t *testing.T) {
			requireNone(t, outOfStep(documentNamed(t, name), documentNamed(t, chinese(name))))
		})
	}
	for _, d := range documents(t) {
		if path.Dir(d.name) == "docs/zh-CN" {
			require.True(t, slices.ContainsFunc(translated, func(name string) bool { return chinese(name) == d.name }), "%s is a translation of what?", d.name)
		}
	}
}

// An English page that a Chinese one links to is said to be English.
func TestLinksToEnglishPagesSaySo(t *testing.T) {
	for _, d := range documents(t) {
		if path.Dir(d.name) == "docs/zh-CN" {
			requireNone(t, unmarkedEnglish(d))
		}
	}
}

const inEnglish = "（英文）"

// unmarkedEnglish are the links to English pages behind which nothing says so.
func unmarkedEnglish(d *document) (problems []string) {
	lines := strings.Split(d.text, "\n")
	for _, l := range d.links {
		target, _, _ := strings.Cut(l.text, "#")
		if l.image || target == "" || strings.Contains(target, "://") || strings.HasPrefix(d.fromRoot(target), "docs/zh-CN/") {
			continue
		}
		page := strings.HasSuffix(target, ".md") || strings.HasSuffix(target, ".html")
		if page && !strings.Contains(l.alt, "English") && !strings.Contains(lines[l.line-1], "]("+l.text+")"+inEnglish) {
			problems = append(problems, d.at(l.line)+l.text+" is an English page: write "+inEnglish+" behind the link")
		}
	}
	return problems
}

func TestUnmarkedEnglishPagesAreFound(t *testing.T) {
	require.Empty(t, unmarkedEnglish(parse("docs/zh-CN/x.md", "[甲](../kata.md)（英文）[乙](walkthrough.md)[丙](../../stage1/mutex.go)[English](../x.md)[丁](#a)")))
	require.Equal(t, []string{"docs/zh-CN/x.md:3: ../kata.md#b is an English page: write （英文） behind the link"},
		unmarkedEnglish(parse("docs/zh-CN/x.md", "甲\n\n[甲](../kata.md#b)。")))
}

// outOfStep names, for each kind of thing, the first that differs.
func outOfStep(english, chinese *document) (problems []string) {
	for _, kind := range []struct {
		name  string
		items func(*document) []part
	}{
		{"heading", levels}, {"anchor", func(d *document) []part { return d.anchors }}, {"picture", pictures}, {"block", marks},
	} {
		if p := firstDifference(kind.name, english, chinese, kind.items(english), kind.items(chinese)); p != "" {
			problems = append(problems, p)
		}
	}
	if problems != nil {
		return problems // without the same headings there are no sections to compare
	}
	for section := range len(english.headings) + 1 {
		ours, theirs := typedIn(english, section), typedIn(chinese, section)
		if p := firstDifference("command", english, chinese, ours, theirs); p != "" {
			return append(problems, p)
		}
	}
	return problems
}

// levels are the headings, by their level only.
func levels(d *document) (items []part) {
	for _, h := range d.headings {
		items = append(items, part{h.line, strings.Repeat("#", h.level)})
	}
	return items
}

// pictures are the pictures, wherever the document is.
func pictures(d *document) (items []part) {
	for _, l := range d.links {
		if l.image {
			items = append(items, part{l.line, d.fromRoot(l.text)})
		}
	}
	return items
}

// marks are the generated blocks.
func marks(d *document) (items []part) {
	found, _ := blocks(d)
	lines := strings.Split(d.text, "\n")
	for _, b := range found {
		items = append(items, part{b.line, lines[b.line-1]})
	}
	return items
}

// languageFlag asks a command for the language of the page.
var languageFlag = regexp.MustCompile(` --lang \S+`)

// typedIn are the commands of a section, whatever language they are asked for, each once
// and sorted: the words of a sentence stand in another order in Chinese.
func typedIn(d *document, section int) (items []part) {
	found, _ := commandsOf(d)
	for _, c := range found {
		line := languageFlag.ReplaceAllString(c.line, "")
		if d.section(c.number) == section && !slices.ContainsFunc(items, func(p part) bool { return p.text == line }) {
			items = append(items, part{c.number, line})
		}
	}
	slices.SortFunc(items, func(a, b part) int { return strings.Compare(a.text, b.text) })
	return items
}

// firstDifference names the first item that the other document has not, with both lines.
func firstDifference(kind string, one, other *document, ours, theirs []part) string {
	for i := range max(len(ours), len(theirs)) {
		switch {
		case i >= len(ours):
			return fmt.Sprintf("%s%s %s: %s has none here", other.at(theirs[i].line), kind, theirs[i].text, one.name)
		case i >= len(theirs):
			return fmt.Sprintf("%s%s %s: %s has none here", one.at(ours[i].line), kind, ours[i].text, other.name)
		case ours[i].text != theirs[i].text:
			return fmt.Sprintf("%s%s %s, but %s%s", one.at(ours[i].line), kind, ours[i].text, other.at(theirs[i].line), theirs[i].text)
		}
	}
	return ""
}

func TestDocumentsOutOfStepAreFound(t *testing.T) {
	english := "# A\n\n<a id=\"a-b\"></a>\n## B\n\nFirst `go run . list`, then `go run . diff 2`.\n\n![x](pictures/x.svg)\n\n" +
		"<!-- show oom --stage 2 -->\n```text\nsee go run . diff 4\n```\n<!-- end -->\n"
	same := "# 一\n\n<a id=\"a-b\"></a>\n## 二\n\n先 `go run . diff 2`，再 `go run . list`，`go run . list`。\n\n![图](../pictures/x.svg)\n\n" +
		"<!-- show oom --stage 2 -->\n```text\nsee go run . diff 4\n```\n<!-- end -->\n"
	require.Empty(t, outOfStep(parse("docs/x.md", english), parse("docs/zh-CN/x.md", same)))
	for _, one := range []struct{ old, new, problem string }{
		{"## 二", "### 二", "docs/x.md:4: heading ##, but docs/zh-CN/x.md:4: ###"},
		{"## 二", "二", "docs/x.md:4: heading ##: docs/zh-CN/x.md has none here"},
		{"# 一", "# 一\n# 三", "docs/x.md:4: heading ##, but docs/zh-CN/x.md:2: #"},
		{"a-b", "a-c", "docs/x.md:3: anchor a-b, but docs/zh-CN/x.md:3: a-c"},
		{"../pictures", "pictures", "docs/x.md:8: picture docs/pictures/x.svg, but docs/zh-CN/x.md:8: docs/zh-CN/pictures/x.svg"},
		{"oom --stage 2", "oom --stage 3", "docs/x.md:10: block <!-- show oom --stage 2 -->, but docs/zh-CN/x.md:10: <!-- show oom --stage 3 -->"},
		{"diff 2", "diff 3", "docs/x.md:6: command go run . diff 2, but docs/zh-CN/x.md:6: go run . diff 3"},
		{"先 `go run . diff 2`", "先", "docs/x.md:6: command go run . diff 2, but docs/zh-CN/x.md:12: go run . diff 4"},
		{"先 `go run . diff 2`", "先 `go run . diff --lang zh 2`", ""},
		{"先", "先 `go run .`", "docs/x.md:6: command go run . diff 2, but docs/zh-CN/x.md:6: go run ."},
	} {
		require.Contains(t, same, one.old)
		problems := outOfStep(parse("docs/x.md", english), parse("docs/zh-CN/x.md", strings.Replace(same, one.old, one.new, 1)))
		require.Equal(t, one.problem, strings.Join(problems, "\n"))
	}
}
