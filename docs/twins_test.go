package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const inChinese = "docs/zh-CN/"

// englishOnly is for contributors, whose code and comments are English.
const englishOnly = "docs/CONTRIBUTING.md"

// chinese returns the file of a document's Chinese version: docs/zh-CN/stage5_watchdog.md for a folder's README.
func chinese(name string) string {
	folder, file := path.Split(name)
	if file == "README.md" && folder != "" {
		return inChinese + path.Base(folder) + ".md"
	}
	return inChinese + strings.TrimPrefix(name, "docs/")
}

// Every document has a Chinese version, with the same headings, anchors, questions, pictures, blocks
// and commands in the same order. A Chinese document leads to no English one but its own.
func TestChineseDocumentsKeepInStep(t *testing.T) {
	var problems, expected []string
	for _, d := range documents() {
		if strings.HasPrefix(d.name, inChinese) || d.name == englishOnly {
			continue
		}
		there := named(documents(), chinese(d.name))
		if there == nil {
			problems = append(problems, d.at(1)+"there is no "+chinese(d.name))
			continue
		}
		expected = append(expected, there.name)
		problems = append(problems, outOfStep(d, there)...)
		problems = append(problems, intoEnglish(there, d.name)...)
	}
	for _, d := range documents() {
		if strings.HasPrefix(d.name, inChinese) && !slices.Contains(expected, d.name) {
			problems = append(problems, d.at(1)+"a translation of what?")
		}
	}
	requireNone(t, problems)
}

// intoEnglish returns the links to English documents and pictures other than the English version itself.
func intoEnglish(d *document, english string) (problems []string) {
	for _, l := range d.links {
		target, _, _ := strings.Cut(l.text, "#")
		name := d.fromRoot(target)
		isText := strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".svg")
		if isText && !strings.Contains(target, "://") && !strings.HasPrefix(name, inChinese) && name != english && name != englishOnly {
			problems = append(problems, d.at(l.line)+l.text+" is English")
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
			items = append(items, part{l.line, "picture " + path.Base(l.text)})
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
