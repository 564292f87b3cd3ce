package failures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

func TestEachFailureHasItsExpectedOutcomes(t *testing.T) {
	var all []string
	for _, f := range failures.All {
		all = append(all, f.ID)
	}
	require.Equal(t, all, failures.ExpectedRows)
}

func TestExpectedOutcomeDependsOnTheLock(t *testing.T) {
	f, found := failures.Find("crash-before-expire")
	require.True(t, found)
	require.Equal(t, failures.Broken, failures.Expected("1")(f))
	require.Equal(t, failures.Safe, failures.Expected("2")(f))
	require.Zero(t, failures.Expected("7")(f), "there is no such lock")
}

func TestMalformedTablePanics(t *testing.T) {
	for text, want := range map[string]string{
		"1 2\noom x":            "failures: row oom has 1 words for 2 columns",
		"1 2\noom x o\noom x o": "failures: row oom is there twice",
	} {
		require.PanicsWithError(t, want, func() { failures.ReadTable(text) })
	}
	table := failures.ReadTable("# a heading\n1 6.1\n\noom  x o\n")
	require.Equal(t, "o", table.Cell("oom", "6.1"))
	require.Empty(t, table.Cell("oom", "7")+table.Cell("ooom", "1"))
}

func TestFirstStageThatFixesAFailure(t *testing.T) {
	for id, want := range map[string][2]string{
		"late-unlock": {"stage3", "4"}, "grant-reply-lost": {"stage5", "6.2"}, "process-pause": {"stage3", ""}, "double-unlock": {"mylock", ""},
	} {
		f, found := failures.Find(id)
		require.True(t, found)
		require.Equal(t, want[1], failures.FixedIn(f, want[0]), id)
	}
}
