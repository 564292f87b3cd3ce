package stages_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

func TestEveryCellOfTheMatrixGivesTheSameTraceAgain(t *testing.T) {
	requireSameAgain(t, stages.Public()...)
}

// requireSameAgain requires the same trace twice of each failure on each stage, byte for byte.
func requireSameAgain(t *testing.T, of ...stages.Stage) {
	for _, s := range of {
		subject, err := failures.DiscoverScripts(t, s.Subject)
		require.NoError(t, err)
		for _, f := range subject.Failures() {
			first := failures.Run(t, f, subject)
			again := failures.Run(t, f, subject)
			require.NoError(t, first.Err, f.ID)
			if first.Trace != nil {
				require.True(t, bytes.Equal(first.Trace.Bytes(), again.Trace.Bytes()), "%s on %s", f.ID, s.Subject.Name)
			}
		}
	}
}

func TestRedLockHasTheExpectedOutcomes(t *testing.T) {
	failures.Check(t, stages.RedLock.Subject, stages.RedLock.Expect)
	for range 10 { // twice each
		requireSameAgain(t, stages.RedLock)
	}
}

// Each documented mistake of a document's lock shows, and no other.
func TestDocumentsLocksHaveTheExpectedOutcomes(t *testing.T) {
	require.Len(t, stages.Documents(), 5)
	for _, c := range stages.Documents() {
		require.True(t, c.Hidden, c.ID)
		t.Run(c.ID, func(t *testing.T) { failures.Check(t, c.Subject, c.Expect) })
	}
}

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range failures.All {
		require.False(t, seen[f.ID], "%s is there twice", f.ID)
		seen[f.ID] = true
		require.NotEmpty(t, f.Breaks, f.ID)
		require.NotEmpty(t, f.Title, f.ID)
		require.NotEmpty(t, f.Story, f.ID)
		require.NotEmpty(t, f.Fixed, f.ID)
		isLimit := false
		for _, c := range stages.Table {
			outcome := c.Expect(f)
			require.True(t, strings.ContainsRune("xoni-", rune(outcome)) || c.Hidden && outcome == failures.NotTested, "%s on %s: %c", f.ID, c.ID, outcome)
			isLimit = isLimit || outcome == failures.Limit
		}
		require.Equal(t, f.PreventedBy != "", isLimit, "%s: a limit in word and in outcome", f.ID)
	}
}

// What no lock over one server prevents has a command that shows how it is prevented.
func TestLimitHasACure(t *testing.T) {
	cured := 0
	for _, f := range failures.All {
		require.Equal(t, f.PreventedBy == "", f.Cure == "", f.ID)
		id, isStory := strings.CutPrefix(f.Cure, "show ")
		if f.PreventedBy == "" {
			continue
		}
		cured++
		require.Equal(t, f.PreventedBy == failures.Majority, f.Cure == "--redlock", f.ID)
		if isStory {
			story, found := failures.Find(id)
			require.True(t, found, f.Cure)
			require.Equal(t, f.Breaks, story.Breaks)
			require.Equal(t, failures.Safe, failures.Run(t, story, stages.MustFind("6").Subject).Outcome, f.Cure)
		}
	}
	require.Equal(t, 7, cured)
}
