package failures

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"lockkata/failures_test/catalogue"
)

//go:embed testdata/expected.txt
var expectedText string

//go:embed testdata/servers.txt
var serversText string

var expected, ofServers = ReadTable(expectedText), ReadTable(serversText)

// Expected returns the expected outcomes of the failures on a lock of this repository.
// The lock is named as in the first line of testdata/expected.txt, "4" or "6.1", or of
// testdata/servers.txt: "wait" or "redlock".
func Expected(lock string) Expect {
	return func(f catalogue.Failure) Outcome {
		letter := expected.Cell(f.ID, lock)
		switch {
		case lock == "wait":
			letter = cmp.Or(ofServers.Cell(f.ID, lock), expected.Cell(f.ID, "4"))
		case lock == "redlock":
			letter = cmp.Or(ofServers.Cell(f.ID, lock), "-")
		case f.OnServers():
			letter = ofServers.Cell(f.ID, "one")
		}
		if letter != "" {
			return Outcome(letter[0])
		}
		return 0
	}
}

// Table is a text of words in rows and columns. Its first line names the columns, and the
// first word of each other line names its row. Lines that begin with # are headings.
type Table struct {
	Columns, Rows []string // names, in order
	cells         map[[2]string]string
}

// Cell returns the word in a row and a column, or "".
func (t Table) Cell(row, column string) string { return t.cells[[2]string{row, column}] }

// ReadTable reads a table that is part of the program. It panics if the table is malformed.
func ReadTable(text string) Table {
	t := Table{cells: map[[2]string]string{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
			continue
		case t.Columns == nil:
			t.Columns = words
			continue
		case len(words) != 1+len(t.Columns):
			panic(fmt.Errorf("failures: row %s has %d words for %d columns", words[0], len(words)-1, len(t.Columns)))
		case t.Cell(words[0], t.Columns[0]) != "":
			panic(fmt.Errorf("failures: row %s is there twice", words[0]))
		}
		t.Rows = append(t.Rows, words[0])
		for i, word := range words[1:] {
			t.cells[[2]string{words[0], t.Columns[i]}] = word
		}
	}
	return t
}
