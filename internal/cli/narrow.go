package cli

import "lockkata/internal/i18n"

// leastScreen is how many columns a game needs.
const leastScreen = 60

var needsColumns = i18n.New("this needs {least} columns; the terminal has {n}")

// narrow asks for a wider terminal; it returns "" where the width is enough.
func (a *app) narrow(width int) string {
	if width >= leastScreen {
		return ""
	}
	return a.say(needsColumns, "least", leastScreen, "n", width)
}
