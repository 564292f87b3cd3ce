package stages_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
)

func TestEveryCellOfTheMatrixGivesTheSameTraceAgain(t *testing.T) {
	for _, s := range stages.All {
		scripts, err := failures.Rehearse(t, s.Subject)
		require.NoError(t, err)
		for _, f := range failures.All {
			first := failures.Run(t, f, s.Subject, scripts)
			again := failures.Run(t, f, s.Subject, scripts)
			require.NoError(t, first.Err, f.ID)
			if first.Trace != nil {
				require.True(t, bytes.Equal(first.Trace.Bytes(), again.Trace.Bytes()), "%s on %s", f.ID, s.Subject.Name)
			}
		}
	}
}

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range failures.All {
		require.False(t, seen[f.ID], "%s is there twice", f.ID)
		seen[f.ID] = true
		require.Len(t, f.Stages, 6, "%s: an outcome for each stage", f.ID)
		require.Empty(t, strings.Trim(f.Stages, "xoni-"), "%s: an unknown outcome", f.ID)
		require.NotEmpty(t, f.Breaks, f.ID)
		require.NotEmpty(t, f.Title, f.ID)
		require.NotEmpty(t, f.Story, f.ID)
		require.NotEmpty(t, f.Fixed, f.ID)
		require.Equal(t, f.Inherent, strings.Contains(f.Stages, "i"), "%s: inherent in word and in outcome", f.ID)
	}
}
