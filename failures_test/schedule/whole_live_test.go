//go:build live

package schedule_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/internal/stages"
)

// The documents show these numbers.
func TestSearchesFindTheDocumentedCounterexamples(t *testing.T) {
	t.Parallel()
	runs, _ := searchAll(t, func(asked) bool { return true })
	require.Equal(t, stages.SuiteSchedules, runs, "write it into stages.go, then go generate ./docs")
}

func TestSearchesOfHiddenStagesFindTheDocumentedCounterexamples(t *testing.T) {
	t.Parallel()
	for _, a := range hidden(t) {
		if slices.ContainsFunc(a.properties, func(p schedule.Property) bool { return a.stage.Search(p.Name, a.question.Env) == "" }) {
			continue // not looked for: it takes many minutes
		}
		requireDocumented(t, a)
	}
}

func TestSearchAgreesWithLongPlainEnumeration(t *testing.T) {
	t.Parallel()
	requirePlainAgrees(t, 3000, 70)
}
