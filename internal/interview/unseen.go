package interview

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Prediction is a random schedule, drawn up to a point, and a question about the rest. The run has
// the answer.
type Prediction struct {
	Stage    stages.Stage
	Setup    schedule.Setup
	Steps    []string       // up to the moment that is asked about
	Trace    *trace.Trace   // of these steps
	Shown    int            // how many of its events are drawn
	Next     []i18n.Message // the steps that are not drawn, without their results
	Question i18n.Message
	Choices  []i18n.Message
	Answer   int          // the index of the choice that is true in the run
	Why      i18n.Message // the answer's reason
	Entry    string       // of docs/interview, about the reason
}

// Text returns the schedule as a string for replay.
func (p Prediction) Text() string { return schedule.Text(p.Setup, p.Steps) }

// drawn returns the part of the trace that is drawn.
func (p Prediction) drawn() *trace.Trace { return p.Trace.UpTo(p.Shown) }

// Finder finds predictions by random schedules.
type Finder struct {
	T    *testing.T
	Seed uint64

	stages []stages.Stage // with the scripts of their locks, once they are needed
}

const (
	tries      = 400 // most end at once: the stage does not have the property
	mostFaults = 3
)

// Find returns the nth prediction, the same for the same seed. Half of the schedules break a
// property, if the tries find one.
func (f *Finder) Find(n int) (p Prediction, err error) {
	if f.stages == nil {
		if f.stages, err = stages.Ready(f.T, stages.Public()); err != nil {
			return p, err
		}
	}
	random := rand.New(rand.NewPCG(f.Seed, uint64(n)))
	breaks := random.IntN(2) == 0
	for try := range tries {
		p.Stage = f.stages[random.IntN(len(f.stages))]
		q := schedule.Suite[random.IntN(len(schedule.Suite))]
		setup, properties := q.Ask(p.Stage.Subject, 1)
		if len(properties) == 0 || q.Clients != 2 {
			continue
		}
		setup.Property = properties[random.IntN(len(properties))]
		p.Setup = setup
		run, err := walk(f.T, setup, random)
		if err != nil {
			return p, err
		}
		if (len(run.Found) > 0) != breaks && try < tries/2 || run.Faults() == 0 {
			continue
		}
		if asked, ok := ask(random, run, p); ok {
			return asked, nil
		}
	}
	return p, fmt.Errorf("seed %d has no prediction %d: take another seed", f.Seed, n)
}

// walk chooses steps at random, mostly without faults, and no more faults than allowed.
func walk(t *testing.T, setup schedule.Setup, random *rand.Rand) (game.Run, error) {
	faults := 0
	return game.Play(t, setup, func(p schedule.Point) (int, bool) {
		i := p.Default
		if random.IntN(3) == 0 {
			i = random.IntN(len(p.Choices))
		}
		if faults+p.Choices[i].Cost > mostFaults {
			i = p.Default
		}
		faults += p.Choices[i].Cost
		return i, true
	})
}
