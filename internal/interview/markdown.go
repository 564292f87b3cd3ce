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

// set formats text for the page.
func (p page) set(text string) string { return term.Markdown(text, p.width, p.inline) }

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
