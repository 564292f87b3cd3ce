package kata

import (
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
	"lockkata/internal/term"
)

// View is how to draw a screen.
type View struct {
	Color term.Color
	Width int
	All   bool // long drawings, too, are whole
	Keys  bool // the reader presses keys instead of typing commands
	Lang  i18n.Language
	flag  string // that of the learner's folder
}

// prose is the greatest width of prose.
const prose = 100

// wrapped wraps prose into lines.
func (v View) wrapped(text string) string {
	return strings.Join(term.Wrap(text, min(v.Width, prose)), "\n") + "\n"
}

// say returns a text in the view's language.
func (v View) say(t i18n.Text, pairs ...any) string { return t.Localize(v.Lang, pairs...) }

// line returns a line in a style.
func (v View) line(style term.Style, text string) string { return v.Color.Paint(style, text) + "\n" }

// painted wraps prose and returns it in a style.
func (v View) painted(style term.Style, text string) string {
	return v.line(style, strings.TrimSuffix(v.wrapped(text), "\n"))
}

// picture draws a trace.
func (v View) picture(tr *trace.Trace, findings []oracle.Finding) string {
	return timeline.Text(tr, findings, timeline.Options{Color: v.Color, Width: v.Width, Language: v.Lang}) + "\n"
}

const (
	mostDrawn  = 40 // lines of a drawing
	firstDrawn = 10 // those that are always shown
)

var omittedLinesText = i18n.New("⋮ {n} lines left out: go run . kata check --all{dir}")

var ruleText = i18n.New("✗ {rule}: {text}")

// shortened leaves lines out of a long drawing: those after its first finding by a rule, and those long before.
func (v View) shortened(drawing string, broken i18n.Text) string {
	lines := strings.SplitAfter(strings.TrimRight(drawing, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	if v.All || len(lines) <= mostDrawn {
		return drawing
	}
	sign := v.say(ruleText, "rule", broken, "text", "")
	found := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, sign) })
	end := min(max(found+2, mostDrawn), len(lines))
	text, before := strings.Join(lines[:firstDrawn], ""), end-mostDrawn
	if before > 0 {
		text += v.line(term.Dim, v.say(omittedLinesText, "n", before, "dir", v.flag))
	}
	text += strings.Join(lines[firstDrawn+before:end], "")
	if after := len(lines) - end; after > 0 {
		text += v.line(term.Dim, v.say(omittedLinesText, "n", after, "dir", v.flag))
	}
	return text + "\n"
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// markdown formats text for a terminal. A link is replaced by its text.
func (v View) markdown(text string) string {
	return term.Markdown(text, min(v.Width, prose), func(paragraph string) string { return link.ReplaceAllString(paragraph, "$1") })
}

var headlineText = i18n.New("exercise {id}: {title}")

// headline returns the first line of every screen.
func (v View) headline(e exercises.Exercise) string {
	return v.line(term.Bold, v.say(headlineText, "id", e.ID, "title", e.Text(v.Lang).Title)) + "\n"
}

var passCountText = i18n.New("{n} of {all} passed")

// bar draws how many exercises are passed.
func (v View) bar(p folder.Progress) string {
	n, all := len(p.Passed), len(exercises.All)
	squares := v.Color.Paint(term.Green, strings.Repeat("■", n)) + strings.Repeat("□", all-n)
	return squares + "  " + v.say(passCountText, "n", n, "all", all) + "\n"
}
