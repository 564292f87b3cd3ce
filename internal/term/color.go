// Package term lays text out on a screen: colours, lines of a certain width, and the
// clock that shows fake time. Keys are read by package keyboard below it.
package term

import (
	"regexp"
	"strings"
	"time"
)

// Color is true where colours are wanted.
type Color bool

// Style is the parameters of an ANSI escape sequence.
type Style string

// The styles.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
	Alarm  Style = "7;31"
)

// Paint puts a text into a style. Blank text is not changed.
func (c Color) Paint(s Style, text string) string {
	if !c || s == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

var (
	diffMark   = regexp.MustCompile(`^(---|\+\+\+|@@|-|\+)`)
	diffStyles = map[string]Style{"---": Bold, "+++": Bold, "@@": Cyan, "-": Red, "+": Green}
)

// Diff colours a line of a unified diff.
func (c Color) Diff(line string) string { return c.Paint(diffStyles[diffMark.FindString(line)], line) }

// Clear empties the screen of a terminal, EraseLine the cursor's line.
const (
	Clear     = "\x1b[H\x1b[2J"
	EraseLine = "\r\x1b[K"
)

// Clock formats a moment of fake time, to the millisecond.
func Clock(d time.Duration) string { return Short(d.Round(time.Millisecond)) }

var zeroUnits = regexp.MustCompile(`(h)0m0s$|(m)0s$`)

// Short formats a duration without zero units at its end: 1h, not 1h0m0s.
func Short(d time.Duration) string { return zeroUnits.ReplaceAllString(d.String(), "$1$2") }
