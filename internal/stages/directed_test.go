package stages_test

import (
	"testing"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
)

func TestStage6WithDirectedWakeupsIsAsSafe(t *testing.T) {
	failures.Check(t, stages.Directed, failures.Stage(6))
}
