package columns

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
)

// A row for each failure and for each search of the suite, in them a word for each column,
// and nothing else.
func TestTablesAreComplete(t *testing.T) {
	var asked []string
	for _, q := range schedule.Suite {
		for _, p := range q.Properties {
			asked = append(asked, p+"/"+q.Env)
		}
	}
	var all []string
	for _, f := range failures.All {
		all = append(all, f.ID)
	}
	require.Equal(t, all, expected.names)
	require.ElementsMatch(t, asked, searches.names)
	require.Equal(t, IDs(All), expected.columns)
	require.Equal(t, IDs(All), searches.columns)
}

func TestTableSaysWhatIsWrongWithIt(t *testing.T) {
	for text, want := range map[string]string{
		"1 2\noom x":            "columns: oom has 1 outcomes for 2 columns",
		"1 2\noom x o\noom x o": "columns: oom is there twice",
	} {
		_, err := read(text)
		require.EqualError(t, err, want)
	}
	table, err := read("# a heading\n1 6.1\n\noom  x o\n")
	require.NoError(t, err)
	require.Equal(t, "o", table.cell("oom", "6.1"))
	require.Empty(t, table.cell("oom", "7")+table.cell("ooom", "1"))
}
