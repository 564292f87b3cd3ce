package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"lockkata/failures_test/oracle"
)

// Limits stop a search early.
type Limits struct {
	Bound int // the highest cost
	Runs  int // 0: no limit
	// Stop is called before each run; true stops the search. nil: never.
	Stop func(Progress) bool
	// Reject is called with each run; an error stops the search. nil: not called.
	Reject func(Played) error
	// Plain runs every schedule, even if two lead to the same state.
	Plain bool
	// SkipUnstable ignores schedules that do not go the same way twice. Without it, they are an error.
	SkipUnstable bool
	// From is the beginning of every schedule. Its cost does not count.
	From []string
}

// Progress is the progress of a search.
type Progress struct {
	Bound  int // the cost of the schedules that run now
	Runs   int // schedules run
	States int // different states seen
}

// Result is the result of a search.
type Result struct {
	Progress
	Exhausted bool // every schedule was run, up to Limits.Bound or until each property was broken
	// Found has a shortest counterexample for each property that is broken. The others have none
	// below Progress.Bound, and none up to Limits.Bound if the search is Exhausted.
	Found map[string]*Counterexample
	// Differs is the first ignored schedule, or "" without one.
	Differs string
}

// Counterexample is a shortest schedule that breaks the property.
type Counterexample struct {
	Schedule []string
	Cost     int
	Finding  oracle.Finding
}

// mostStates limits the memory of a search: some 60 bytes for each state.
const mostStates = 8_000_000

// seenAt is the lowest cost, with the fewest steps, at which a state was seen.
type seenAt struct{ cost, steps int32 }

type search struct {
	t      *testing.T
	setup  Setup
	limits Limits
	result Result
	levels [][][]string // cost → the beginnings of the schedules that have not run yet
	seen   map[uint64]seenAt
	open   []Property // not yet broken at a lower cost
}

// Search runs all schedules of cost 0, then of cost 1, and so on up to the bound, and looks for
// schedules that break the properties. It does not continue from a state that it has seen with no
// higher cost. The clients have to behave the same for all properties.
func Search(t *testing.T, s Setup, properties []Property, limits Limits) (Result, error) {
	s.Property = properties[0]
	x := &search{
		t: t, setup: s, limits: limits, open: slices.Clone(properties),
		levels: make([][][]string, limits.Bound+1), seen: map[uint64]seenAt{},
	}
	x.result.Found = map[string]*Counterexample{}
	x.levels[0] = [][]string{limits.From}
	for x.result.Bound = 0; ; x.result.Bound++ {
		done, err := x.level(x.result.Bound)
		if err != nil || !done {
			return x.result, err
		}
		x.open = slices.DeleteFunc(x.open, func(p Property) bool { return x.result.Found[p.Name] != nil })
		if len(x.open) == 0 || x.result.Bound == limits.Bound {
			x.result.Exhausted = true
			return x.result, nil
		}
	}
}

// level runs all schedules of one cost. It returns false if a limit stopped it.
func (x *search) level(cost int) (bool, error) {
	for len(x.levels[cost]) > 0 {
		l := x.limits
		if l.Runs > 0 && x.result.Runs >= l.Runs || x.result.States >= mostStates || l.Stop != nil && l.Stop(x.result.Progress) {
			return false, nil
		}
		queue := x.levels[cost]
		next := queue[len(queue)-1]
		x.levels[cost] = queue[:len(queue)-1]
		if err := x.run(next, cost); err != nil {
			return false, err
		}
	}
	return true, nil
}

// run follows a schedule, continues with the default choices, and queues the other choices.
func (x *search) run(prefix []string, cost int) error {
	x.result.Runs++
	var astray error
	given, at := Follow(prefix, &astray), []string{}
	played, err := Play(x.t, x.setup, func(p Point) (int, bool) {
		if len(at) < len(prefix) {
			at = append(at, prefix[len(at)])
			return given(p)
		}
		if !x.isNew(p, cost, len(at)) {
			return 0, false
		}
		for i, o := range p.Choices {
			if i != p.Default && cost+o.Cost <= x.limits.Bound {
				x.levels[cost+o.Cost] = append(x.levels[cost+o.Cost], append(slices.Clip(at), o.Token))
			}
		}
		chosen := p.Choices[p.Default]
		cost += chosen.Cost
		at = append(at, chosen.Token)
		return p.Default, true
	})
	if err == nil && astray != nil && x.limits.SkipUnstable {
		x.result.Differs = cmp.Or(x.result.Differs, Text(x.setup, played.Schedule))
		return nil
	}
	if err = cmp.Or(err, astray); err != nil {
		return fmt.Errorf("after %s: %w", Text(x.setup, played.Schedule), err)
	}
	if x.limits.Reject != nil {
		if err := x.limits.Reject(played); err != nil {
			return err
		}
	}
	x.judge(played)
	return nil
}

// isNew reports whether a state was not yet seen at this cost or a lower one, and records it.
func (x *search) isNew(p Point, cost, steps int) bool {
	if x.limits.Plain {
		return true
	}
	digest, now := p.Digest(), seenAt{int32(cost), int32(steps)}
	before, was := x.seen[digest]
	if was && (before.cost < now.cost || before.cost == now.cost && before.steps <= now.steps) {
		return false
	}
	x.seen[digest] = now
	x.result.States = len(x.seen)
	return true
}

// judge asks the rules, and keeps a shortest counterexample for each property.
func (x *search) judge(played Played) {
	for _, p := range x.open {
		found := played.Broken(p.Breaks)
		if len(found) == 0 {
			continue
		}
		this := played.UpTo(found[0], p.Breaks)
		if best := x.result.Found[p.Name]; best == nil || len(this.Schedule) < len(best.Schedule) {
			x.result.Found[p.Name] = this
		}
	}
}
