package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Columns returns how many columns a text takes on a screen: two for each Chinese
// character, none for its colours.
func Columns(text string) int { return ansi.StringWidth(text) }

func isWide(r rune) bool { return Columns(string(r)) == 2 }

// Pad fills a text up with spaces.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Columns(text)))
}

// Clip cuts a text that is too long and ends it with "…".
func Clip(text string, width int) string { return ansi.Truncate(text, width, "…") }
