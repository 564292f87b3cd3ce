package stages

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
)

func TestEachSearchOfTheSuiteHasItsExpectedResults(t *testing.T) {
	var asked []string
	for _, q := range schedule.Suite {
		for _, p := range q.Properties {
			asked = append(asked, p+"/"+q.Env)
		}
	}
	require.ElementsMatch(t, asked, searches.Rows)
	require.Equal(t, IDs(Table), searches.Columns)
}
