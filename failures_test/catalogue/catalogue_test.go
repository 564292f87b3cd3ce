package catalogue_test

import (
	"testing"

	"lockkata/failures_test/world"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}
