package cli

import (
	"fmt"
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
)

// position is where a schedule has led.
type position struct {
	steps   []string // those that were possible
	cost    int
	trace   *world.Trace
	now     time.Duration
	last    []world.Event     // what the last step did
	options []schedule.Option // what can be done next
	found   []oracle.Finding  // where the property was broken
	astray  error             // a step was not possible
}

// runSteps runs a lock from its beginning under these steps, and stops there.
func runSteps(t *testing.T, setup schedule.Setup, steps []string) (position, error) {
	var m position
	follow := schedule.Follow(steps, &m.astray)
	var before []int // each step, how many events there were
	played, err := schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
		before = append(before, len(p.World.Trace().Events))
		m.now = p.World.Now()
		i, ok := follow(p)
		if !ok {
			m.options = p.Choices
		}
		return i, ok
	})
	if err != nil {
		return m, err
	}
	m.steps, m.trace = played.Schedule, played.Trace
	for _, cost := range played.Costs {
		m.cost += cost
	}
	n := len(m.steps)
	switch {
	case !played.Finished: // what was on its way when the run was stopped is no part of it
		cut := *m.trace
		cut.Events = cut.Events[:before[n]]
		m.trace = &cut
	case n < len(steps):
		m.astray = fmt.Errorf("step %d, %s, is not possible any more: the lock has changed since", n+1, steps[n])
	}
	if n > 0 {
		m.last = m.trace.Events[before[n-1]:]
	}
	if all := m.trace.Events; len(all) > 0 {
		m.now = max(m.now, all[len(all)-1].At)
	}
	m.found = oracle.Ask(m.trace, setup.Property.Breaks...)
	return m, nil
}
