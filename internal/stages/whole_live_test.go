//go:build live

package stages_test

import (
	"testing"

	"lockkata/internal/stages"
)

func TestEveryCellOfEveryLockGivesTheSameTraceAgain(t *testing.T) {
	requireSameAgain(t, stages.Table...)
}
