package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const finalLock = "final-lock.md"

// entry is a row of the table of the documents' terms.
type entry struct{ theirs, ours, file, test string }

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	word   = regexp.MustCompile(`^[A-Za-z]\w*$`)
	linked = regexp.MustCompile(`\]\(([^)#]+)`)
)

// terms are the rows of the table.
func terms(t *testing.T) []entry {
	t.Helper()
	raw, err := os.ReadFile(finalLock)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(raw), "| The documents' term | ours | file | test |\n")
	require.True(t, found, "the table of terms is gone")
	var rows []entry
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if strings.HasPrefix(line, "|---") {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		require.Len(t, cells, 4, line)
		rows = append(rows, entry{cells[0], cells[1], cells[2], cells[3]})
	}
	return rows
}

// Every name of ours has to be in one of the files of its row.
func TestTermsOfTheFinalLockAreWhereTheTableSays(t *testing.T) {
	rows := terms(t)
	require.Greater(t, len(rows), 40)
	for _, row := range rows {
		var text strings.Builder
		for _, file := range linked.FindAllStringSubmatch(row.file, -1) {
			raw, err := os.ReadFile(filepath.Join(filepath.Dir(finalLock), file[1]))
			require.NoError(t, err, row.theirs)
			text.Write(raw)
		}
		for _, name := range quoted.FindAllStringSubmatch(row.ours, -1) {
			if word.MatchString(name[1]) {
				require.Regexp(t, `\b`+name[1]+`\b`, text.String(), "%s is not in %s", name[1], row.file)
			}
		}
	}
}

// Every test of the table has to exist, and every row that names a file has one.
func TestTermsOfTheFinalLockAreTested(t *testing.T) {
	tests := readCode(t).tests["stage6_reentrant_pubsub"]
	for _, row := range terms(t) {
		names := quoted.FindAllStringSubmatch(row.test, -1)
		require.Equal(t, linked.MatchString(row.file), len(names) > 0, row.theirs)
		for _, name := range names {
			require.Contains(t, tests, name[1], row.theirs)
		}
	}
}
