package game

import (
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
)

// Par is what is known about the shortest way to a goal.
type Par struct {
	Found    bool `json:"found"`
	Shortest bool `json:"shortest"` // all others were looked at
	Cost     int  `json:"cost"`
	Steps    int  `json:"steps"`
	Bound    int  `json:"bound"` // without a way: up to which cost there is none; -1: nobody knows
}

// How far it is looked for a way.
const (
	farthest = 4    // the highest cost
	glance   = 1500 // how many schedules before the game
	patience = 4000 // and for a hint
)

var (
	parShortest = i18n.New("The shortest way has {length}.")
	parKnown    = i18n.New("The shortest way that is known has {length}.")
	parUnknown  = i18n.New("No way is known, and nobody has looked through all of them. Try.")
	parNone     = i18n.New("No way is known: there is none up to cost {n}. Try one that costs more.")
	steps       = i18n.NewPlural("1 step, of which {cost} cost", "{n} steps, of which {cost} cost")
)

// Length says how long a schedule is.
func Length(cost, n int, l i18n.Language) string { return steps.Of(n, "cost", cost).Localize(l) }

// Localize returns it in words.
func (p Par) Localize(l i18n.Language) string {
	switch length := Length(p.Cost, p.Steps, l); {
	case p.Shortest:
		return parShortest.Localize(l, "length", length)
	case p.Found:
		return parKnown.Localize(l, "length", length)
	case p.Bound < 0:
		return parUnknown.Localize(l)
	}
	return parNone.Localize(l, "n", p.Bound)
}

// FindPar notes what is known about the shortest way to the goal, of which nothing is known
// before. Where that is nothing it looks for a way: for seconds at most.
func (g *Game) FindPar() error {
	if g.KnowsWay() {
		return nil
	}
	for _, q := range schedule.Suite {
		if !g.isForeign() && g.Attempts == 1 && g.Clients == q.Clients && g.Env.Name == q.Env && !q.Together && !g.Together &&
			slices.Contains(q.Properties, g.Property.Name) && g.Column.Search(g.Property.Name, q.Env) == "none" {
			g.par = Par{Bound: q.Bound}
			return nil
		}
	}
	r, found, err := g.search(nil, glance)
	switch {
	case err != nil:
		return err
	case found != nil:
		g.ways = slices.Insert(g.ways, 0, found.Schedule) // before the column's
		g.par = Par{Found: true, Shortest: r.Exhausted, Cost: found.Cost, Steps: len(found.Schedule)}
	case r.Exhausted:
		g.par = Par{Bound: r.Bound}
	default:
		g.par = Par{Bound: r.Bound - 1}
	}
	return nil
}

// search looks for a way that begins with the given steps.
func (g *Game) search(from []string, runs int) (schedule.Result, *schedule.Counterexample, error) {
	limits := schedule.Limits{From: from, Bound: farthest, Runs: runs, Stop: g.Stop}
	r, err := schedule.Search(g.t, g.Setup, []schedule.Property{g.Property}, limits)
	found := r.Found[g.Property.Name]
	if found != nil {
		g.ways = append(g.ways, found.Schedule)
	}
	return r, found, err
}

// isForeign tells whether the lock was edited, or written in place of the column's: what is
// known of that one says nothing of it.
func (g *Game) isForeign() bool { return schedule.IsForeign(g.Column.Subject.Name) }

// KnowsWay takes the column's own way, if this is its challenge and the lock still goes it. It
// needs no search. For another lock than the column's it is a way for hints, and no more.
func (g *Game) KnowsWay() bool {
	setup, _, steps, err := schedule.Parse(g.Column.Challenge)
	setup.Subject = g.Column.Subject
	if err != nil || schedule.Text(setup, steps) != schedule.Text(g.Setup, steps) {
		return false
	}
	end, err := g.follow(steps)
	if err != nil || len(end.Found) == 0 {
		return false
	}
	g.ways = append(g.ways, steps)
	if g.isForeign() {
		return false
	}
	g.par = Par{Found: true, Shortest: true, Cost: end.Cost(), Steps: len(steps)}
	return true
}

var (
	needed    = i18n.New("You needed {length}; {than}")
	noPar     = i18n.New("You needed {length}.")
	noneKnown = i18n.New("no way was known.")
	cheapest  = i18n.New("the way that costs least has {n}, of which {cost} cost.")
	shortest  = i18n.New("the shortest way has {n}, of which {cost} cost.")
	bestKnown = i18n.New("the shortest that was known has {n}, of which {cost} cost.")
	hintTaken = i18n.NewPlural(" You took 1 hint.", " You took {n} hints.")
)

// score compares the player's way with the shortest, if anybody has looked for that.
func (g *Game) score() string {
	p, cost, length := g.par, g.at.Cost(), len(g.at.Schedule)
	say, than := needed, bestKnown
	switch {
	case !p.Found && p.Bound < 0:
		say = noPar
	case !p.Found:
		than = noneKnown
	case p.Cost < cost && p.Steps > length:
		than = cheapest
	case p.Shortest:
		than = shortest
	}
	text := say.Localize(g.Language, "length", Length(cost, length, g.Language), "than", than.Args("n", p.Steps, "cost", p.Cost))
	if g.hints > 0 {
		text += hintTaken.Of(g.hints).Localize(g.Language)
	}
	return text
}
