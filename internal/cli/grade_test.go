package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/term"
)

// onTerminal returns an app with a terminal of that width, and its output.
func onTerminal(t *testing.T, width int) (a *app, out, errors *strings.Builder) {
	out, errors = &strings.Builder{}, &strings.Builder{}
	return &app{t: t, sources: os.DirFS("../.."), out: out, err: errors, width: width}, out, errors
}

// requireColumns requires that no line is wider.
func requireColumns(t *testing.T, width int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), width, line)
	}
}
