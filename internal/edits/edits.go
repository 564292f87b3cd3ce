// Package edits holds mistakes that somebody could make in a lock of this repository: each
// damages one line, and says what a user would suffer and what shows it.
package edits

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/columns"
)

// Edit is one mistake.
type Edit struct {
	Name     string
	File     string // in the repository
	Old, New string // what stands in the file once, and what the edit makes of it
	Suffers  string // what a user of the lock would suffer
	// What shows it: a failure whose cell has another outcome than the lesson's, and the
	// rule that it breaks.
	Failure string
	Outcome failures.Outcome
	Rule    oracle.Monitor
	Search  string // the search that must find it too, property/environment; "" if none is asked
}

var notInIDs = regexp.MustCompile(`[^a-z0-9.]+`)

// ID is the name as it stands in a link.
func (e Edit) ID() string { return notInIDs.ReplaceAllString(strings.ToLower(e.Name), "-") }

// Column is the one whose lock is edited.
func (e Edit) Column() (columns.Column, error) {
	for _, c := range columns.All {
		if c.Dir == path.Dir(e.File) {
			return c, nil
		}
	}
	return columns.Column{}, fmt.Errorf("edits: %s is no column's", e.File)
}

// Apply returns the text of the file with the edit. All other lines stay where they are.
func (e Edit) Apply(text string) (string, error) {
	if n := strings.Count(text, e.Old); n != 1 {
		return "", fmt.Errorf("edits: %q is %d times in %s, not once", e.Old, n, e.File)
	}
	fewer := strings.Count(e.Old, "\n") - strings.Count(e.New, "\n")
	return strings.Replace(text, e.Old, e.New+strings.Repeat("\n", max(0, fewer)), 1), nil
}
