package term

import (
	"strings"
	"unicode"
)

// NoBreak is a space at which no line is broken.
const NoBreak = "\u00a0"

// Wrap breaks a text into lines of at most width columns: at spaces, and between
// Chinese characters. A word that is longer stands out.
func Wrap(text string, width int) []string { return lines(atoms(text), width) }

// Fold is [Wrap] for a cell of a table: it cuts a word that is longer than a line.
func Fold(text string, width int) []string {
	var pieces []atom
	for _, a := range atoms(text) {
		for Columns(a.text) > width {
			head := cut(a.text, width)
			pieces = append(pieces, atom{head, a.spaced})
			a = atom{a.text[len(head):], false}
		}
		pieces = append(pieces, a)
	}
	return lines(pieces, width)
}

// Beside is a text beside what it is about, with each further line below the first.
func Beside(head, text string, width int) (lines []string) {
	indent := Columns(head)
	for _, line := range Wrap(text, max(width-indent, 20)) {
		lines = append(lines, head+line)
		head = strings.Repeat(" ", indent)
	}
	return lines
}

// lines fills one line after the other.
func lines(all []atom, width int) []string {
	var done []string
	line, room := "", width
	for _, a := range all {
		n, gap := Columns(a.text), ""
		if a.spaced && line != "" {
			gap = " "
		}
		if line != "" && len(gap)+n > room {
			done, line, room, gap = append(done, line), "", width, ""
		}
		line += gap + strings.ReplaceAll(a.text, NoBreak, " ")
		room -= len(gap) + n
	}
	if line != "" {
		done = append(done, line)
	}
	return done
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
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) && string(r) != NoBreak }) {
		all = append(all, atom{spaced: true})
		before, painting := rune(0), false
		for _, r := range word {
			if painting = painting || r == escape; !painting {
				between := before != 0 && (isWide(before) || isWide(r))
				if between && !strings.ContainsRune(closing, r) && !strings.ContainsRune(opening, before) {
					all = append(all, atom{})
				}
				before = r
			}
			painting = painting && r != 'm'
			all[len(all)-1].text += string(r)
		}
	}
	return all
}

// Punctuation that stays with the character before or after it.
const (
	closing = "，。、；：？！）」』”’》】…"
	opening = "（「『“‘《【"
)

// Joined joins two lines of a paragraph. Chinese has no spaces between words.
func Joined(a, b string) string {
	before, after := rune(' '), rune(' ')
	for _, r := range strings.TrimRight(a, "*") {
		before = r
	}
	for _, after = range b {
		break
	}
	if a == "" || isWide(before) && (isWide(after) || strings.ContainsRune(closing, before)) {
		return a + b
	}
	return a + " " + b
}
