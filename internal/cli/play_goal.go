package cli

import (
	"cmp"
	"fmt"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
)

// goals say, for each property, what somebody does who breaks it, and where it is
// best tried.
var goals = map[string]struct{ words, env string }{
	"leak":          {"leave a key in Redis that stays for ever, or beyond its use", "crash"},
	"wrong-delete":  {"make a client remove what somebody else installed", "async"},
	"exclusion":     {"bring two clients into the lock at once", "async"},
	"damage":        {"bring the order into the ledger twice", "pause"},
	"truth":         {"make a call answer what is not so", "reply-loss"},
	"watchdog":      {"let the key of a holder expire in spite of its watchdog", "async"},
	"wake-up":       {"let a client wait beside a free lock", "short-pauses"},
	"damage-fenced": {"get the order twice past a ledger that checks tokens", "pause"},
}

// par is what is known about the shortest way to a goal.
type par struct {
	isFound     bool
	isShortest  bool // all others were looked at
	cost, steps int
	bound       int // without a way: up to which cost there is none; -1: nobody knows
}

func (p par) String() string {
	switch {
	case p.isShortest:
		return "The shortest way has " + length(p.cost, p.steps) + "."
	case p.isFound:
		return "The shortest way that is known has " + length(p.cost, p.steps) + "."
	case p.bound < 0:
		return "No way is known, and nobody has looked through all of them. Try."
	}
	return fmt.Sprintf("No way is known: there is none up to cost %d. Try one that costs more.", p.bound)
}

const (
	farthest = 4    // the highest cost that a search for a way looks at
	glance   = 1500 // how many schedules it runs before the game
	patience = 4000 // and for a hint
)

// challenge makes a game of what the flags ask for.
func (a *app) challenge(s columns.Column, goal, env string, clients, attempts int) (*game, error) {
	if goal == "" {
		goal = "leak"
		if setup, _, _, err := schedule.Parse(s.Challenge); err == nil {
			goal, env = setup.Property.Name, cmp.Or(env, setup.Env.Name)
		}
	}
	p, err := schedule.FindProperty(goal)
	if err != nil {
		return nil, err
	}
	if err := suits(s, p); err != nil {
		return nil, err
	}
	if env == "" {
		env = goals[goal].env
	}
	e, err := schedule.FindEnv(env)
	if err != nil {
		return nil, err
	}
	switch {
	case clients != 2 && clients != 3:
		return nil, fmt.Errorf("--clients %d: there can be 2 or 3", clients)
	case attempts != 1 && attempts != 2:
		return nil, fmt.Errorf("--attempts %d: each client can have 1 or 2", attempts)
	}
	if s.Subject, err = failures.DiscoverScripts(a.t, s.Subject); err != nil {
		return nil, failedError{err.Error()}
	}
	g := &game{app: a, stage: s, setup: schedule.Setup{
		Subject: s.Subject, Clients: clients, Attempts: attempts, Env: e, Property: p,
	}}
	if g.key, err = g.findKey(); err != nil {
		return nil, failedError{err.Error()}
	}
	return g, nil
}

// findKey is the first key that a client installs on a calm day.
func (g *game) findKey() (string, error) {
	key := ""
	_, err := schedule.Play(g.app.t, g.setup, func(p schedule.Point) (int, bool) {
		for _, e := range p.World.Trace().Events {
			for _, effect := range e.Effects {
				key = effect.Key
			}
		}
		return p.Default, key == ""
	})
	return key, err
}

// findPar notes what is known about the goal. Where that is nothing it looks for a
// way for a while.
func (g *game) findPar() error {
	if g.knowsWay() {
		return nil
	}
	for _, q := range schedule.Suite {
		if g.setup.Attempts == 1 && g.setup.Clients == q.Clients && g.setup.Env.Name == q.Env && !q.Together &&
			slices.Contains(q.Properties, g.setup.Property.Name) &&
			g.stage.Search(g.setup.Property.Name, q.Env) == "none" {
			g.par = par{bound: q.Bound}
			return nil
		}
	}
	r, err := schedule.SearchFrom(g.app.t, g.setup, nil, schedule.Limits{Bound: farthest, Runs: glance})
	if err != nil {
		return failedError{err.Error()}
	}
	found := r.Found[g.setup.Property.Name]
	switch {
	case found != nil:
		g.ways = append(g.ways, found.Schedule)
		g.par = par{isFound: true, isShortest: r.Exhausted, cost: found.Cost, steps: len(found.Schedule)}
	case r.Exhausted:
		g.par = par{bound: r.Bound}
	default:
		g.par = par{bound: r.Bound - 1}
	}
	return nil
}

// knowsWay takes the stage's own way, if this is its challenge and the lock still
// goes it.
func (g *game) knowsWay() bool {
	setup, steps, err := parseSchedule(g.stage.Challenge)
	if err != nil || schedule.Text(setup, steps) != schedule.Text(g.setup, steps) {
		return false
	}
	end, err := runSteps(g.app.t, g.setup, steps)
	if err != nil || len(end.found) == 0 {
		return false
	}
	g.ways = append(g.ways, steps)
	g.par = par{isFound: true, isShortest: true, cost: end.Cost(), steps: len(steps)}
	return true
}

// hint says what to do next.
func (g *game) hint(m position) (string, error) {
	way := g.wayFrom(m.Schedule)
	if way == nil {
		r, err := schedule.SearchFrom(g.app.t, g.setup, m.Schedule, schedule.Limits{Bound: farthest, Runs: patience})
		if err != nil {
			return "", failedError{err.Error()}
		}
		found := r.Found[g.setup.Property.Name]
		if found == nil {
			return g.noWay(m, r), nil
		}
		way = found.Schedule
		g.ways = append(g.ways, way)
	}
	g.hints++
	next := way[len(m.Schedule)]
	i := slices.IndexFunc(m.Next(), func(o schedule.Option) bool { return o.Token == next })
	return fmt.Sprintf("Hint: %c. The goal is %s away.", choiceKeys[i], count(len(way)-len(m.Schedule), "step")), nil
}

// noWay is the hint where a search found no way.
func (g *game) noWay(m position, r schedule.Result) string {
	back := "undo (u), or restart (r)."
	if len(m.Schedule) == 0 {
		back = "try."
	}
	if r.Exhausted {
		return fmt.Sprintf("Hint: from here no way is left up to cost %d: %s", r.Bound, back)
	}
	return fmt.Sprintf("Hint: none of %d schedules from here gets there: %s", r.Runs, back)
}

// wayFrom is a way that begins with these steps, nil if none is known.
func (g *game) wayFrom(steps []string) []string {
	for _, way := range g.ways {
		if len(way) > len(steps) && slices.Equal(way[:len(steps)], steps) {
			return way
		}
	}
	return nil
}
