//go:build live

package columns_test

import (
	"testing"

	"lockkata/internal/columns"
)

func TestEveryCellOfEveryColumnGivesTheSameTraceAgain(t *testing.T) {
	requireSameAgain(t, columns.All)
}
