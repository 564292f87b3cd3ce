package interview

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/quiz"
	"lockkata/internal/stages"
)

// Finder finds predictions: schedules that the search or chance has found, and that
// nobody has read of.
type Finder struct {
	T     *testing.T
	Seed  uint64
	Known []string // schedules that a reader may have seen

	stages []stages.Stage // with the scripts of their locks, once they are needed
	left   int            // searches for this prediction
}

const (
	tries    = 200 // most of them end at once: the stage has no such property
	searches = 5   // then what breaks nothing is good enough
	searched = 150 // schedules that one search runs at most
	dearest  = 3   // the highest cost of a schedule
	longest  = 40  // steps
)

// Find is the nth prediction, the same for the same seed. It is found when it is asked
// for: by a search of at most some hundred schedules, so in a moment.
func (f *Finder) Find(n int) (Prediction, error) {
	random := rand.New(rand.NewPCG(f.Seed, uint64(n)))
	breaks := random.IntN(2) == 0 // else a schedule that breaks nothing
	f.left = searches
	for range tries {
		p, err := f.propose(random, breaks && f.left > 0)
		if err != nil {
			return p, err
		}
		if len(p.Steps) > 0 && !f.isKnown(p) {
			return p, nil
		}
	}
	return Prediction{}, fmt.Errorf("seed %d has no prediction %d: take another seed", f.Seed, n)
}

// propose makes one prediction of a stage, an environment and a property, without
// steps if chance has chosen nothing that one can ask about.
func (f *Finder) propose(random *rand.Rand, breaks bool) (p Prediction, err error) {
	if f.stages == nil {
		if f.stages, err = stages.Ready(f.T, stages.Public()); err != nil {
			return p, err
		}
	}
	p.Stage = f.stages[random.IntN(len(f.stages))]
	q := schedule.Suite[random.IntN(len(schedule.Suite))]
	setup, properties := q.Ask(p.Stage.Subject, 1)
	if len(properties) == 0 || q.Clients != 2 {
		return p, nil
	}
	setup.Property = properties[random.IntN(len(properties))]
	p.Setup = setup
	lesson := p.Stage.Search(setup.Property.Name, q.Env)
	if breaks && (lesson == "none" || lesson == "-") {
		return p, nil
	}
	steps, err := f.steps(random, setup, breaks)
	if err != nil || len(steps) == 0 {
		return p, err
	}
	run, err := quiz.Follow(f.T, setup, steps)
	if err = cmp.Or(err, run.Astray); err != nil {
		return p, err
	}
	return ask(random, run, p), nil
}

// steps are a schedule that breaks the property, or one that does not; none if it was
// not found at once.
func (f *Finder) steps(random *rand.Rand, setup schedule.Setup, breaks bool) ([]string, error) {
	length := longest
	if breaks {
		length = random.IntN(5) // then the search goes on
	}
	walked, err := walk(f.T, setup, random, length)
	if err != nil {
		return nil, err
	}
	if !breaks {
		isCalm := !slices.ContainsFunc(walked.Costs, func(cost int) bool { return cost > 0 })
		if isCalm || !walked.Finished || len(oracle.Ask(walked.Trace, setup.Property.Breaks...)) > 0 {
			return nil, nil
		}
		return walked.Schedule, nil
	}
	f.left--
	limits := schedule.Limits{From: walked.Schedule, Bound: dearest, Runs: searched}
	result, err := schedule.Search(f.T, setup, []schedule.Property{setup.Property}, limits)
	if err != nil || result.Found[setup.Property.Name] == nil {
		return nil, err
	}
	return result.Found[setup.Property.Name].Schedule, nil
}

// walk goes at random for some steps: mostly as a calm day would, and never dearer than
// it may be.
func walk(t *testing.T, setup schedule.Setup, random *rand.Rand, steps int) (schedule.Played, error) {
	cost := 0
	return schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
		if steps--; steps < 0 {
			return 0, false
		}
		i := p.Default
		if random.IntN(3) == 0 {
			i = random.IntN(len(p.Choices))
		}
		if cost+p.Choices[i].Cost > dearest {
			i = p.Default
		}
		cost += p.Choices[i].Cost
		return i, true
	})
}

// isKnown tells whether a document has this schedule, or how it begins or goes on. The
// environment and the property make no other schedule.
func (f *Finder) isKnown(p Prediction) bool {
	mine := bare(p.Text())
	return slices.ContainsFunc(f.Known, func(text string) bool {
		other := bare(text)
		return other != "" && (strings.HasPrefix(mine+".", other+".") || strings.HasPrefix(other+".", mine+"."))
	})
}

// bare is a schedule without its environment and property; "" of what is none.
func bare(text string) string {
	parts := strings.Split(text, "/")
	if len(parts) != 7 || parts[6] == "" {
		return ""
	}
	return parts[1] + "/" + parts[2] + "/" + parts[3] + "/" + parts[6]
}
