package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const theatrePage = "../../docs/theatre.html"

// biggest is how many bytes the theatre may have: a page that one opens at once.
const biggest = 1_500_000

func TestTheatreIsWhatTheRunsShow(t *testing.T) {
	a := &app{t: t, sources: os.DirFS("../..")}
	page, _, err := a.theatre()
	require.NoError(t, err)
	again, _, err := a.theatre()
	require.NoError(t, err)
	require.True(t, string(page) == string(again), "two generations differ")
	require.Less(t, len(page), biggest)
	if *update {
		require.NoError(t, os.WriteFile(theatrePage, page, 0o644))
		return
	}
	raw, err := os.ReadFile(theatrePage)
	require.NoError(t, err, "go generate ./internal/cli makes it")
	require.True(t, string(page) == string(raw), "docs/theatre.html is out of date: go generate ./internal/cli")
}
