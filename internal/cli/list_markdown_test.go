package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

const failuresDocument = "../../docs/failures.md"

func TestFailuresDocumentIsWhatTheCommandPrints(t *testing.T) {
	status, out, errors := command(t, "list", "--markdown")
	require.Equal(t, exitOK, status, errors)
	if *update {
		require.NoError(t, os.WriteFile(failuresDocument, []byte(out), 0o644))
		return
	}
	raw, err := os.ReadFile(failuresDocument)
	require.NoError(t, err)
	require.Equal(t, out, string(raw), "docs/failures.md is out of date: go generate ./internal/cli")
}

func TestFailuresDocumentHasAChapterForEachFailure(t *testing.T) {
	_, out, _ := command(t, "list", "--markdown")
	for _, f := range failures.All {
		require.Equal(t, 1, strings.Count(out, `<a id="`+f.ID+`"></a>`), f.ID)
		require.Contains(t, out, "](pictures/"+f.ID+"-", "a failure without a picture")
	}
	words := strings.Join(strings.Fields(out), " ")
	for _, incidents := range failures.Incidents {
		for _, i := range incidents {
			require.Contains(t, words, "("+i.Link+"): "+i.What)
		}
	}
}

func TestListIsEitherJSONOrMarkdown(t *testing.T) {
	status, out, errors := command(t, "list", "--json", "--markdown")
	require.Equal(t, exitBadUsage, status)
	require.Empty(t, out)
	require.Contains(t, errors, "--json and --markdown exclude each other")
}
