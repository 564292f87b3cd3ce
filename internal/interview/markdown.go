package interview

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	image   = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]*)\)`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)\s]*\)`)
	strong  = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	stopped = regexp.MustCompile(`([，。：；！？])\*\* `) // Markdown needs that space after bold letters, Chinese does not
	item    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	picture = regexp.MustCompile(`^([a-z0-9-]+)-([1-9])\.svg$`)
)

// Marks that stand in a text for the beginning and the end of bold letters, which take
// no room, for a span of code that is put back later, and for a space in it: a command
// is not broken, so that it can be copied.
const (
	boldOn  = '\x01'
	boldOff = '\x02'
	code    = "\x03"
	space   = "\x04"
)

// page sets Markdown for a terminal.
type page struct {
	width int
	color bool
	words *words
}

// set makes lines of a text: paragraphs and items are wrapped, code and tables stay as
// they are.
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
			paragraph = joined(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return out.String()
}

// joined joins two lines of a paragraph. Chinese has no spaces between words.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(a, "*"))
	after, _ := utf8.DecodeRuneInString(b)
	if isWide(before) && (isWide(after) || strings.ContainsRune(closing, before)) {
		return a + b
	}
	return a + " " + b
}

// paragraph wraps a paragraph, or an item under its dash.
func (p page) paragraph(text string) string {
	indent := len(item.FindString(text))
	head := text[:indent]
	var out strings.Builder
	for i, line := range wrap(p.inline(text[indent:]), p.width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		out.WriteString(head + p.painted(line) + "\n")
	}
	return out.String()
}

// inline turns links into their text, a picture into the command that draws it, and
// bold into marks. Code stays as it is.
func (p page) inline(text string) string {
	text = image.ReplaceAllStringFunc(text, func(found string) string {
		m := image.FindStringSubmatch(found)
		return p.words.drawing(m[1], m[2])
	})
	spans := codeSpan.FindAllString(text, -1)
	text = codeSpan.ReplaceAllString(text, code)
	text = link.ReplaceAllString(text, "$1")
	text = stopped.ReplaceAllString(text, "$1**")
	text = strong.ReplaceAllString(text, string(boldOn)+"$1"+string(boldOff))
	for _, span := range spans {
		text = strings.Replace(text, code, strings.ReplaceAll(span, " ", space), 1)
	}
	return text
}

// drawing names the command that draws a picture of the documents.
func (w *words) drawing(alt, file string) string {
	alt = strings.TrimRight(alt, ".。")
	if m := picture.FindStringSubmatch(path.Base(file)); m != nil {
		return fmt.Sprintf(w.Picture, alt, "`go run . show "+m[1]+" --stage "+m[2]+"`")
	}
	return fmt.Sprintf(w.Picture, alt, "docs/"+strings.TrimLeft(file, "./"))
}

// painted puts colours where the marks are.
func (p page) painted(line string) string {
	on, off := "", ""
	if p.color {
		on, off = "\x1b[1m", "\x1b[0m"
	}
	return strings.NewReplacer(string(boldOn), on, string(boldOff), off, space, " ").Replace(line)
}

// wrap breaks a text into lines of at most width columns: at spaces, and between
// Chinese characters.
func wrap(text string, width int) []string {
	var lines []string
	line, room := "", width
	for _, a := range atoms(text) {
		n := columns(a.text)
		gap := ""
		if a.spaced && line != "" {
			gap = " "
		}
		if line != "" && len(gap)+n > room {
			lines, line, room, gap = append(lines, line), "", width, ""
		}
		line += gap + a.text
		room -= len(gap) + n
	}
	return append(lines, line)
}

// atom is what no line end divides.
type atom struct {
	text   string
	spaced bool // a space stands before it
}

// atoms are the words of a text. Each Chinese character is one, with the punctuation
// that belongs to it.
func atoms(text string) []atom {
	var all []atom
	for _, word := range strings.Fields(text) {
		before := rune(0) // the character before, 0 at the beginning of a word
		for _, r := range word {
			between := (isWide(before) || isWide(r)) && !strings.ContainsRune(closing, r) && !strings.ContainsRune(opening, before)
			if before == 0 || between {
				all = append(all, atom{spaced: before == 0})
			}
			all[len(all)-1].text += string(r)
			before = r
		}
	}
	return all
}

// Punctuation that stays with the character before or after it.
const (
	closing = "，。、；：？！）」』”’》】…"
	opening = "（「『“‘《【"
)

// columns is how much room a text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r == boldOn || r == boldOff:
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide tells whether a character takes two columns, as the Chinese ones do.
func isWide(r rune) bool {
	return unicode.Is(unicode.Han, r) || r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff60
}
