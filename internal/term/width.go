package term

import (
	"strings"
	"unicode"
)

// escape begins a sequence that paints, and that ends with an m.
const escape = '\x1b'

// Columns is how much room a text takes on a screen: two columns for each Chinese
// character, none for what paints it.
func Columns(text string) int {
	n, painting := 0, false
	for _, r := range text {
		switch {
		case painting:
			painting = r != 'm'
		case r == escape:
			painting = true
		default:
			n += columns(r)
		}
	}
	return n
}

func columns(r rune) int {
	if isWide(r) {
		return 2
	}
	return 1
}

// isWide tells whether a character takes two columns, as the Chinese ones do.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff60
}

// Pad fills a text up with spaces.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Columns(text)))
}

// Clip cuts a text that is too long, which is not painted, and says so.
func Clip(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	return cut(text, width-1) + "…"
}

// cut is what there is room for of a text that is not painted: one character at least.
func cut(text string, width int) string {
	for i, r := range text {
		if width -= columns(r); width < 0 && i > 0 {
			return text[:i]
		}
	}
	return text
}
