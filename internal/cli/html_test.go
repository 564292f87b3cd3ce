package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var pageLine = regexp.MustCompile(`"mutex\.go:\d+"`)

func TestShowWritesAPageThatStandsAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	status, out, errors := command(t, "show", "check-then-delete", "--stage", "3", "--html", name)
	require.Equal(t, exitOK, status, errors)
	require.Empty(t, out)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(raw), "<title>the lock changes hands between GET and DEL, on stage 3")
	require.Regexp(t, pageLine, string(raw))
	require.Less(t, len(raw), 100_000)
	status, out, _ = command(t, "show", "check-then-delete", "--stage", "3", "--html", "-")
	require.Equal(t, exitOK, status)
	require.Equal(t, string(raw), out)
}

func TestShowRefusesAPageInOneLine(t *testing.T) {
	for _, one := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--html", "x", "--svg"}, exitBadUsage, "exclude each other"},
		{[]string{"--html", "x", "--before-after"}, exitBadUsage, "a picture shows one run"},
		{[]string{"--html", ""}, exitBadUsage, "--html is empty"},
		{[]string{"--html", "/nowhere/at/all.html"}, exitFailed, "cannot write the page: open /nowhere/at/all.html"},
	} {
		status, out, errors := command(t, append([]string{"show", "check-then-delete"}, one.args...)...)
		require.Equal(t, one.status, status, one.args)
		require.Empty(t, out)
		require.Contains(t, errors, one.says)
	}
}
