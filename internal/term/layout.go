package term

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Columns returns the columns that a text takes: two for a Chinese character, none for colours.
func Columns(text string) int { return ansi.StringWidth(text) }

// Pad fills a text up with spaces.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Columns(text)))
}

// Clip cuts a text that is too long and ends it with "…".
func Clip(text string, width int) string { return ansi.Truncate(text, width, "…") }

// NoBreak is a space at which no line is broken.
const NoBreak = "\u00a0"

// Punctuation that stays with the character before or after it.
const (
	closing = "，。、；：？！）」『”’》】…"
	opening = "（「『“‘《【"
)

// Wrap breaks a text into lines of at most width columns: at spaces, and between
// Chinese characters. A longer word is not cut. It is not ansi.Wrap, which also
// breaks names at their hyphens and lets a line begin with Chinese punctuation.
func Wrap(text string, width int) []string { return fill(pieces(text, math.MaxInt), width) }

// Fold is [Wrap] for a cell of a table: it cuts a word that is longer than a line.
func Fold(text string, width int) []string { return fill(pieces(text, width), width) }

// Beside puts a text next to its head and indents the further lines.
func Beside(head, text string, width int) (lines []string) {
	indent := Columns(head)
	for _, line := range Wrap(text, max(width-indent, 20)) {
		lines = append(lines, head+line)
		head = strings.Repeat(" ", indent)
	}
	return lines
}

// fill joins pieces to lines of at most width columns.
func fill(pieces []string, width int) (lines []string) {
	for _, piece := range pieces {
		last := len(lines) - 1
		if last >= 0 && Columns(lines[last]+piece) <= width {
			lines[last] += piece
		} else {
			lines = append(lines, strings.TrimPrefix(piece, " "))
		}
	}
	return lines
}

// pieces splits a text where a line may end, into parts of at most longest columns. A part that
// begins a word has a space before it.
func pieces(text string, longest int) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) && string(r) != NoBreak }) {
		all = append(all, " ")
		before, room := "", longest
		for len(word) > 0 {
			next, width, n, _ := ansi.DecodeSequence(word, ansi.NormalState, nil) // a character, or a colour
			word = word[n:]
			if width > 0 {
				chinese := before != "" && (isWide(next) || isWide(before))
				belongs := strings.Contains(closing, next) || strings.Contains(opening, before)
				if chinese && !belongs || before != "" && width > room {
					all, room = append(all, ""), longest
				}
				before, room = next, room-width
			}
			all[len(all)-1] += strings.Replace(next, NoBreak, " ", 1)
		}
	}
	return all
}

func isWide(char string) bool { return Columns(char) == 2 }

// Joined joins two lines of a paragraph. Chinese has no spaces between words.
func Joined(a, b string) string {
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(a, "*"))
	after, _ := utf8.DecodeRuneInString(b)
	if a == "" || isWide(string(before)) && (isWide(string(after)) || strings.ContainsRune(closing, before)) {
		return a + b
	}
	return a + " " + b
}

var item = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)

// Markdown lays out Markdown: paragraphs and items are wrapped, code and tables are not. inline
// formats the text of a paragraph or an item.
func Markdown(text string, width int, inline func(string) string) string {
	var out strings.Builder
	paragraph, isCode := "", false
	end := func() {
		if paragraph != "" {
			head := item.FindString(paragraph)
			for _, line := range Wrap(inline(paragraph[len(head):]), width-len(head)) {
				out.WriteString(head + line + "\n")
				head = strings.Repeat(" ", len(head))
			}
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			end()
			isCode = !isCode
		case isCode:
			out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		case strings.HasPrefix(line, "|"), strings.TrimSpace(line) == "":
			end()
			out.WriteString(strings.TrimSpace(line) + "\n")
		case item.MatchString(line):
			end()
			paragraph = line
		default:
			paragraph = Joined(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return out.String()
}
