//go:build live

package edits_test

import "testing"

func TestEachEditIsFoundByItsSearch(t *testing.T) {
	t.Setenv(wholeSearch, "1")
	TestEachEditBreaksItsCell(t)
}
