//go:build live

package columns_test

import (
	"testing"

	"lockkata/internal/columns"
)

func TestEveryCellOfEveryColumnGivesTheSameTraceAgain(t *testing.T) {
	requireSameAgain(t, columns.All)
}

func TestEachEditIsFoundByItsSearch(t *testing.T) {
	t.Setenv(wholeSearch, "1")
	TestEachEditTurnsItsCellRed(t)
}
