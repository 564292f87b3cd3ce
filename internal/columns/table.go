package columns

import (
	_ "embed"
	"fmt"
	"strings"
)

var (
	//go:embed expected.txt
	expectedText string
	//go:embed searches.txt
	searchesText string

	expected = mustRead(expectedText)
	searches = mustRead(searchesText)
)

// table is one of the texts: a row for each failure or search, in it a word for each
// column. A line that begins with # is a heading.
type table struct {
	columns []string
	names   []string // of the rows, in order
	rows    map[string][]string
}

// cell is the word in a row and a column, "" if there is none.
func (t table) cell(row, column string) string {
	for i, c := range t.columns {
		if c == column && len(t.rows[row]) > i {
			return t.rows[row][i]
		}
	}
	return ""
}

// read reads a table. Its first line names the columns.
func read(text string) (table, error) {
	t := table{rows: map[string][]string{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case t.columns == nil:
			t.columns = words
		case len(words) != 1+len(t.columns):
			return t, fmt.Errorf("columns: %s has %d outcomes for %d columns", words[0], len(words)-1, len(t.columns))
		case t.rows[words[0]] != nil:
			return t, fmt.Errorf("columns: %s is there twice", words[0])
		default:
			t.names = append(t.names, words[0])
			t.rows[words[0]] = words[1:]
		}
	}
	return t, nil
}

func mustRead(text string) table {
	t, err := read(text)
	if err != nil {
		panic(err)
	}
	return t
}
