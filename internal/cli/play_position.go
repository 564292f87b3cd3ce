package cli

import (
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/quiz"
)

// position is where a schedule has led.
type position struct {
	quiz.Run
	found []oracle.Finding // where the property was broken
}

// runSteps runs a lock from its beginning under these steps, and stops there.
func runSteps(t *testing.T, setup schedule.Setup, steps []string) (m position, err error) {
	m.Run, err = quiz.Follow(t, setup, steps)
	if err == nil {
		m.found = oracle.Ask(m.Trace, setup.Property.Breaks...)
	}
	return m, err
}

// now is the fake time there.
func (m position) now() time.Duration { return m.Now(len(m.Schedule)) }
