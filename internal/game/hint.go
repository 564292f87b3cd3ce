package game

import (
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Limits of a search for a way to the goal.
const (
	mostFaults = 4
	glance     = 1500 // schedules before the game
	patience   = 4000 // schedules for a hint
)

var (
	bestWay    = i18n.New("The best way takes {length}.")
	knownWay   = i18n.New("The best known way takes {length}.")
	noneUpTo   = i18n.New("No way is known: there is none with up to {faults}.")
	noneYet    = i18n.New("No way is known: {n} schedules don't get there.")
	needed     = i18n.New("You did it in {length}.")
	hintsTaken = i18n.NewPlural("You took 1 hint.", "You took {n} hints.")
)

// FindPar sets what is known about the best way to the goal: the one with the fewest faults, then
// the fewest steps. For an unknown lock it searches, for seconds at most.
func (g *Game) FindPar() (err error) {
	if !g.KnowsWay() {
		_, g.par, err = g.look(nil, glance)
	}
	return err
}

// look searches for a way that begins with the given steps, and returns it with a sentence about the best.
func (g *Game) look(from []string, runs int) (way []string, says i18n.Message, err error) {
	limits := schedule.Limits{From: from, Bound: mostFaults, Runs: runs, Stop: g.Stop}
	r, err := schedule.Search(g.t, g.Setup, []schedule.Property{g.Property}, limits)
	found, bound := r.Found[g.Property.Name], r.Bound
	if !r.Exhausted {
		bound--
	}
	switch {
	case found != nil:
		way, says = found.Schedule, knownWay.Args("length", schedule.Length(found.Cost, len(found.Schedule)))
		if r.Exhausted {
			says.Text = bestWay
		}
		g.ways = slices.Insert(g.ways, 0, way)
	case bound < 0:
		says = noneYet.Args("n", r.Runs)
	default:
		says = noneUpTo.Args("faults", schedule.Faults(bound))
	}
	return way, says, err
}

// KnowsWay loads the stage's own way, if this is its challenge and the way works on this lock. It
// needs no search. On an edited lock the way is good for hints, but perhaps not the best.
func (g *Game) KnowsWay() bool {
	setup, _, steps, err := schedule.Parse(g.Challenge.Stage.Challenge)
	setup.Subject = g.Challenge.Stage.Subject
	if err != nil || schedule.Text(setup, steps) != schedule.Text(g.Setup, steps) {
		return false
	}
	end, err := Follow(g.t, g.Setup, steps)
	if err != nil || len(end.Found) == 0 {
		return false
	}
	g.ways = slices.Insert(g.ways, 0, steps)
	if schedule.IsForeign(g.Challenge.Stage.Subject.Name) {
		return false
	}
	g.par = bestWay.Args("length", schedule.Length(end.Faults(), len(steps)))
	return true
}

// score returns the length of the player's way, and what is known of the best.
func (g *Game) score() string {
	text, hints := needed.Localize(g.Language, "length", schedule.Length(g.at.Faults(), len(g.Steps()))), i18n.Message{}
	if g.hints > 0 {
		hints = hintsTaken.Of(g.hints)
	}
	for _, more := range []i18n.Message{g.par, hints} {
		if more.Text != "" {
			text = term.Joined(text, more.Localize(g.Language))
		}
	}
	return text
}

// Hint is a step towards the goal.
type Hint struct {
	Option int    `json:"option"` // its index; -1: no way is known
	Away   int    `json:"away"`   // steps to the goal
	Why    string `json:"why"`    // a sentence
}

// Hint returns the next step on a known way, or on one that a search finds.
func (g *Game) Hint() (Hint, error) {
	if len(g.Options()) == 0 {
		return Hint{Option: -1, Why: nothingLeft.Localize(g.Language)}, nil
	}
	done := len(g.Steps())
	isFromHere := func(way []string) bool { return len(way) > done && slices.Equal(way[:done], g.Steps()) }
	if !slices.ContainsFunc(g.ways, isFromHere) {
		way, says, err := g.look(g.Steps(), patience)
		if way == nil || err != nil {
			return Hint{Option: -1, Why: says.Localize(g.Language)}, err
		}
	}
	way := g.ways[slices.IndexFunc(g.ways, isFromHere)]
	end, err := Follow(g.t, g.Setup, way)
	if err != nil {
		return Hint{}, err
	}
	g.hints++
	next := slices.IndexFunc(g.Options(), func(o schedule.Option) bool { return o.Token == way[done] })
	return Hint{next, len(way) - done, g.brief(g.why(end, done))}, nil
}

// Reasons for a step.
var (
	nothingLeft = i18n.New("No step is possible any longer.")

	itBreaks     = i18n.New("That breaks the rule: {what}.")
	writesNow    = i18n.New("{client} writes now, whoever holds the lock.")
	getsBeside   = i18n.New("{client} gets the lock while {other} believes that it holds it.")
	getsKey      = i18n.New("{client} needs the lock, and there is no key.")
	takesKeyAway = i18n.New("Without the key the next client gets the lock.")
	leaseEnds    = i18n.New("The lease ends, and its client doesn't know it yet.")
	goesIn       = i18n.New("{client} learns that it has the lock, and acts on it.")

	reasons = map[world.Action]i18n.Text{
		world.Execute: i18n.New("{client} learns how things are now. They can be different by the time it acts."),
		world.Deliver: i18n.New("{client} goes on only after it has read this reply."),
		world.Tick:    i18n.New("The next thing happens only after some time."),
		world.Crash:   i18n.New("{client} leaves its work unfinished."),
		world.Freeze:  i18n.New("{client} neither renews its lease nor notices that it ends."),
		world.Thaw:    i18n.New("{client} goes on as if no time had passed."),
		world.Heal:    i18n.New("{client} goes on as if no time had passed."),
		world.Lose:    i18n.New("{client} can't know whether its command was executed."),
		world.Leave:   i18n.New("{client} can't know whether its command was executed."),
		world.Refuse:  i18n.New("{client} has to clean up after an error."),
	}
)

// why returns a sentence about the purpose of step number done of a way to the goal.
func (g *Game) why(way Run, done int) string {
	chosen, other := way.Chosen(done), ""
	if done == len(way.Schedule)-1 {
		return itBreaks.Localize(g.Language, "what", way.Found[0].Localize(g.Language))
	}
	reason := reasons[chosen.Action]
	before := way.Trace.UpTo(way.Events(done)).End()
	for _, e := range way.Trace.Events[way.Events(done):way.Events(done+1)] {
		switch others := before.Others(e.Client); {
		case e.Acquires():
			reason = goesIn
		case e.Kind == trace.Expired:
			reason = leaseEnds
		case e.Kind == trace.Stored && e.Op == trace.OpInsert:
			reason = writesNow
		case did(e, trace.Installed) && len(others) > 0:
			other, reason = others[0], getsBeside
		case did(e, trace.Installed):
			reason = getsKey
		case did(e, trace.Removed):
			reason = takesKeyAway
		}
	}
	return reason.Localize(g.Language, "client", chosen.Client, "other", other)
}

func did(e trace.Event, kind trace.EffectKind) bool {
	return slices.ContainsFunc(e.Effects, func(effect trace.Effect) bool { return effect.Kind == kind })
}
