package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// translated are the documents that must have a Chinese version.
var translated = []string{
	"README.md", "docs/walkthrough.md", "docs/interview.md", "docs/cheatsheet.md", "docs/redisson.md", "docs/workshop.md", "docs/choosing.md",
	"docs/using.md", "docs/terms.md", "docs/final-lock.md", "docs/schedules.md", "docs/inside.md", "docs/documents.md", "docs/kata.md", "docs/grade.md", "docs/commands.md",
}

// chinese returns the file of a document's Chinese version.
func chinese(name string) string { return "docs/zh-CN/" + path.Base(name) }

// A Chinese document has the headings, anchors, questions, pictures, blocks and commands of the
// English one, in the same order. Its links to English pages say that these are English.
func TestChineseDocumentsKeepInStep(t *testing.T) {
	var expected []string
	for _, name := range translated {
		requireNone(t, outOfStep(documentNamed(t, name), documentNamed(t, chinese(name))))
		expected = append(expected, chinese(name))
	}
	for _, d := range documents() {
		if path.Dir(d.name) == "docs/zh-CN" {
			require.Contains(t, expected, d.name, "a translation of what?")
			requireNone(t, unmarkedEnglish(d))
		}
	}
}

const inEnglish = "（英文）"

// unmarkedEnglish returns the links to English pages that do not say so.
func unmarkedEnglish(d *document) (problems []string) {
	for _, l := range d.links {
		target, _, _ := strings.Cut(l.text, "#")
		isPage := strings.HasSuffix(target, ".md") || strings.HasSuffix(target, ".html")
		if l.image || !isPage || strings.Contains(target, "://") || strings.HasPrefix(d.fromRoot(target), "docs/zh-CN/") {
			continue
		}
		if !strings.Contains(l.alt, "English") && !strings.Contains(d.lines[l.line-1], "]("+l.text+")"+inEnglish) {
			problems = append(problems, d.at(l.line)+l.text+" is an English page: write "+inEnglish+" behind the link")
		}
	}
	return problems
}

// outOfStep names the first difference.
func outOfStep(english, chinese *document) []string {
	if p := firstDifference(english, chinese, steps(english), steps(chinese)); p != "" {
		return []string{p} // without the same headings there are no sections to compare
	}
	ours, _ := commandsOf(english)
	theirs, _ := commandsOf(chinese)
	for section := range len(english.headings) + 1 {
		if p := firstDifference(english, chinese, typedIn(english, ours, section), typedIn(chinese, theirs, section)); p != "" {
			return []string{p}
		}
	}
	return nil
}

// steps returns the levels of the headings, the anchors, the pictures without their folders,
// and the generated blocks.
func steps(d *document) (items []part) {
	for _, h := range d.headings {
		items = append(items, part{h.line, "heading " + strings.Repeat("#", h.level)})
	}
	for _, a := range d.anchors {
		items = append(items, part{a.line, "anchor " + a.text})
	}
	for _, l := range d.links {
		if l.image {
			items = append(items, part{l.line, "picture " + d.fromRoot(l.text)})
		}
	}
	found, _ := blocks(d)
	for _, b := range found {
		command := languageFlag.ReplaceAllString(strings.Join(b.words, " "), "") // without its from and to, which match words of one language
		items = append(items, part{b.line - 1, "block " + command})
	}
	slices.SortStableFunc(items, func(a, b part) int { return a.line - b.line })
	return items
}

// languageFlag asks a command for the language of the page.
var languageFlag = regexp.MustCompile(` --lang \S+`)

// typedIn returns the commands of a section without their language, each once and sorted: Chinese
// has another order of words.
func typedIn(d *document, typed []command, section int) (items []part) {
	for _, c := range typed {
		line := "command " + languageFlag.ReplaceAllString(c.line, "")
		if d.section(c.number) == section && !slices.ContainsFunc(items, func(p part) bool { return p.text == line }) {
			items = append(items, part{c.number, line})
		}
	}
	slices.SortFunc(items, func(a, b part) int { return strings.Compare(a.text, b.text) })
	return items
}

// firstDifference names the first item that the other document lacks, with both lines.
func firstDifference(one, other *document, ours, theirs []part) string {
	for i := range max(len(ours), len(theirs)) {
		switch {
		case i >= len(ours):
			return other.at(theirs[i].line) + theirs[i].text + ": " + one.name + " has none here"
		case i >= len(theirs):
			return one.at(ours[i].line) + ours[i].text + ": " + other.name + " has none here"
		case ours[i].text != theirs[i].text:
			return one.at(ours[i].line) + ours[i].text + ", but " + other.at(theirs[i].line) + theirs[i].text
		}
	}
	return ""
}
