//go:build live

package interpreter_test

import (
	"maps"
	"slices"
	"testing"
)

func TestEveryInterpretedEditEndsAsTheSuiteSays(t *testing.T) { requireSameEdits(t, interpreted...) }

func TestEveryInterpretedLockHasTheCellsOfTheCompiledOne(t *testing.T) {
	requireSameCells(t, interpreted...)
}

func TestEveryLockOfAStrangerHasTheCellsOfTheCompiledOne(t *testing.T) {
	requireSameStrangers(t, slices.Sorted(maps.Keys(strangers))...)
}

func TestEveryInterpretedLockHasTheSearchesOfTheCompiledOne(t *testing.T) {
	requireSameSearch(t, "1", 0)
	requireSameSearch(t, "3", 3)
	for _, id := range []string{"5", "6.1", "6.5"} {
		requireSameSearch(t, id, 1)
	}
}
