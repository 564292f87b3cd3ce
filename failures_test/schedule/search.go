package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"lockkata/failures_test/oracle"
)

// Limits end a search before it has seen all.
type Limits struct {
	Bound int // the highest cost
	Runs  int // 0: no limit
	// Stop is asked before each run; true ends the search. nil: never.
	Stop func(Progress) bool
	// See is shown each run; an error ends the search with it. nil: nobody looks.
	See func(Played) error
	// Plain runs every schedule, also where two lead to one state.
	Plain bool
	// Skip leaves out schedules that do not go the same way twice. Without it, the first is an error.
	Skip bool
	// From is how every schedule begins. What it costs does not count: cost 0 is a calm day
	// from there on.
	From []string
}

// Progress is how far a search is.
type Progress struct {
	Bound  int // the cost that is being exhausted
	Runs   int // schedules run
	States int // different states seen
}

// Result is what a search found.
type Result struct {
	Progress
	Exhausted bool // every schedule was looked at, up to Limits.Bound or until each property was broken
	// Found has a shortest counterexample for each property that is broken. For the
	// others there is none below Progress.Bound, and none at all up to
	// Limits.Bound if it is Exhausted.
	Found map[string]*Counterexample
	// Differs is the first schedule that was left out, "" if none was.
	Differs string
}

// Counterexample is a shortest schedule that breaks the property.
type Counterexample struct {
	Schedule []string
	Cost     int
	Finding  oracle.Finding
}

// node is a step of a schedule that waits to be run; its parents are the steps
// before it.
type node struct {
	parent *node
	token  string
	depth  int32
}

// then is a step after n, which is nil at the beginning.
func (n *node) then(token string) *node { return &node{n, token, n.steps() + 1} }

// steps is how many steps there are up to n.
func (n *node) steps() int32 {
	if n == nil {
		return 0
	}
	return n.depth
}

func (n *node) schedule() []string {
	tokens := make([]string, n.steps())
	for ; n != nil; n = n.parent {
		tokens[n.depth-1] = n.token
	}
	return tokens
}

// mostStates bounds the memory of a search: some 60 bytes for each state.
const mostStates = 8_000_000

// seenAt is the least cost, and the fewest steps with it, at which a state was seen.
type seenAt struct{ cost, steps int32 }

// search is a search under way.
type search struct {
	t      *testing.T
	setup  Setup
	limits Limits
	result Result
	levels [][]*node
	seen   map[uint64]seenAt
	open   []Property // not yet broken at a lower cost
}

// Search looks for schedules that break properties: through all of cost 0, then all
// of cost 1, and so on, up to the bound. States that were seen with no higher cost
// are not looked at again. The properties have to agree in what clients do.
func Search(t *testing.T, s Setup, properties []Property, limits Limits) (Result, error) {
	s.Property = properties[0]
	x := &search{
		t: t, setup: s, limits: limits, open: slices.Clone(properties),
		levels: make([][]*node, limits.Bound+1), seen: map[uint64]seenAt{},
	}
	x.result.Found = map[string]*Counterexample{}
	var last *node
	for _, token := range limits.From {
		last = last.then(token)
	}
	x.levels[0] = []*node{last}
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

// level runs all schedules of one cost. It returns false if a limit ended it.
func (x *search) level(cost int) (bool, error) {
	for len(x.levels[cost]) > 0 {
		x.result.States = len(x.seen)
		l := x.limits
		if l.Runs > 0 && x.result.Runs >= l.Runs || len(x.seen) >= mostStates || l.Stop != nil && l.Stop(x.result.Progress) {
			return false, nil
		}
		queue := x.levels[cost]
		next := queue[len(queue)-1]
		x.levels[cost] = queue[:len(queue)-1]
		if err := x.run(next, cost); err != nil {
			return false, err
		}
	}
	x.result.States = len(x.seen)
	return true, nil
}

// run follows a schedule and goes on as a calm day would, noting what else could
// have been chosen.
func (x *search) run(prefix *node, cost int) error {
	x.result.Runs++
	var astray error
	follow := prefix.schedule()
	given, at := Follow(follow, &astray), prefix
	played, err := Play(x.t, x.setup, func(p Point) (int, bool) {
		if at == prefix && len(follow) > 0 {
			i, ok := given(p)
			follow = follow[1:]
			return i, ok
		}
		if !x.isNew(p, cost, at) {
			return 0, false
		}
		for i, o := range p.Choices {
			if i != p.Default && cost+o.Cost <= x.limits.Bound {
				x.levels[cost+o.Cost] = append(x.levels[cost+o.Cost], at.then(o.Token))
			}
		}
		chosen := p.Choices[p.Default]
		cost += chosen.Cost
		at = at.then(chosen.Token)
		return p.Default, true
	})
	if err == nil && astray != nil && x.limits.Skip {
		x.result.Differs = cmp.Or(x.result.Differs, Text(x.setup, played.Schedule))
		return nil
	}
	if err = cmp.Or(err, astray); err != nil {
		return fmt.Errorf("after %s: %w", Text(x.setup, played.Schedule), err)
	}
	if x.limits.See != nil {
		if err := x.limits.See(played); err != nil {
			return err
		}
	}
	x.judge(played)
	return nil
}

// isNew tells whether a state was not yet seen as cheaply, and notes it.
func (x *search) isNew(p Point, cost int, at *node) bool {
	if x.limits.Plain {
		return true
	}
	digest, now := p.Digest(), seenAt{int32(cost), at.steps()}
	before, was := x.seen[digest]
	if was && (before.cost < now.cost || before.cost == now.cost && before.steps <= now.steps) {
		return false
	}
	x.seen[digest] = now
	return true
}

// judge asks the monitors about a run, and keeps the shortest that breaks each
// property.
func (x *search) judge(played Played) {
	for _, p := range x.open {
		found := played.Broken(p.Breaks)
		if len(found) == 0 {
			continue
		}
		this := played.upTo(found[0], p.Breaks)
		if best := x.result.Found[p.Name]; best == nil || len(this.Schedule) < len(best.Schedule) {
			x.result.Found[p.Name] = this
		}
	}
}

// upTo is the shortest part of a run that shows a finding of these monitors. What a
// finding points at can be long before the moment that gives it away.
func (p Played) upTo(first oracle.Finding, by []oracle.Monitor) *Counterexample {
	steps := 1 + slices.IndexFunc(p.Ends, func(events int) bool { return events >= first.Step })
	trace := *p.Trace
	for part := p; steps > 0 && steps < len(p.Schedule); steps++ {
		part.Trace, trace.Events = &trace, p.Trace.Events[:p.Ends[steps-1]]
		if len(part.Broken(by)) > 0 {
			break
		}
	}
	if steps == 0 { // it was found when all was over
		steps = len(p.Schedule)
	}
	cost := 0
	for _, c := range p.Costs[:steps] {
		cost += c
	}
	return &Counterexample{Schedule: p.Schedule[:steps], Cost: cost, Finding: first}
}
