package interview

import (
	"path"
	"regexp"
	"strings"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

var (
	image   = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]*)\)`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)\s]*\)`)
	outside = regexp.MustCompile(`\[([^\]]*)\]\((https?://[^)\s]*)\)`)
	strong  = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	stopped = regexp.MustCompile(`([，。：；！？])\*\* `) // Markdown needs the space after bold text, Chinese does not
	item    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	picture = regexp.MustCompile(`^([a-z0-9-]+)-([1-9])\.svg$`)
)

// code is a placeholder for a code span, which is put back later.
const code = "\x03"

// page formats Markdown for a terminal.
type page struct {
	width    int
	color    term.Color
	language i18n.Language
}

// set formats text: paragraphs and items are wrapped, code and tables are not.
func (p page) set(text string) string {
	var out strings.Builder
	var paragraph string
	fenced := false
	flush := func() {
		if paragraph != "" {
			out.WriteString(p.paragraph(paragraph))
			paragraph = ""
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			flush()
			fenced = !fenced
		case fenced:
			out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		case strings.HasPrefix(line, "|"):
			flush()
			out.WriteString(line + "\n")
		case strings.TrimSpace(line) == "":
			flush()
			out.WriteString("\n")
		case item.MatchString(line):
			flush()
			paragraph = line
		default:
			paragraph = term.Joined(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return out.String()
}

// paragraph wraps a paragraph, or an item under its dash.
func (p page) paragraph(text string) string {
	indent := len(item.FindString(text))
	head := text[:indent]
	var out strings.Builder
	for i, line := range term.Wrap(p.inline(text[indent:]), p.width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		out.WriteString(head + line + "\n")
	}
	return out.String()
}

// inline replaces a link by its text, with the address if it is on another site, and a picture by the command that draws it, and styles bold
// text. Code is not wrapped, so that it can be copied.
func (p page) inline(text string) string {
	text = image.ReplaceAllStringFunc(text, func(found string) string {
		m := image.FindStringSubmatch(found)
		return p.drawing(m[1], m[2])
	})
	spans := codeSpan.FindAllString(text, -1)
	text = codeSpan.ReplaceAllString(text, code)
	text = outside.ReplaceAllString(text, "$1 ($2)")
	text = link.ReplaceAllString(text, "$1")
	text = stopped.ReplaceAllString(text, "$1**")
	text = strong.ReplaceAllString(text, p.color.Paint(term.Bold, "$1"))
	for _, span := range spans {
		text = strings.Replace(text, code, strings.ReplaceAll(span, " ", term.NoBreak), 1)
	}
	return text
}

var drawnBy = i18n.New("{picture}: {command} draws it")

// drawing returns the command that draws a picture of the documents.
func (p page) drawing(alt, file string) string {
	command := "docs/" + strings.TrimLeft(file, "./")
	if m := picture.FindStringSubmatch(path.Base(file)); m != nil {
		command = "`go run . show " + m[1] + " --stage " + m[2] + "`"
	}
	return drawnBy.Localize(p.language, "picture", strings.TrimRight(alt, ".。"), "command", command)
}
