//go:build live

package engine

import (
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/stages"
)

// This test takes runs over at some steps only: all steps of all runs would take minutes.
func TestEveryRunIsTakenOver(t *testing.T) {
	e := newEngine(t)
	for _, c := range stages.All() {
		for _, f := range catalogue.All {
			if failures.Applies(f, c.Subject) {
				cell := ask[Cell](t, e, Request{Op: "run", Stage: c.ID, Failure: f.ID})
				for step := 1; step <= len(cell.Run.Steps); step += 40 {
					takeOver(t, e, c.ID, cell, f.ID, step)
				}
			}
		}
	}
}
