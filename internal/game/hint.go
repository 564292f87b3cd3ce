package game

import (
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// Hint is a step that leads to the goal.
type Hint struct {
	Option int    `json:"option"` // its index; -1: no way is known
	Away   int    `json:"away"`   // how many steps the goal is away
	Why    string `json:"why"`    // a sentence
}

// Hint says what to do next on a way from here: on another lock than the column's perhaps not
// a shortest one, until somebody has looked for that.
func (g *Game) Hint() (Hint, error) {
	none := Hint{Option: -1}
	if len(g.Options()) == 0 {
		none.Why = nothingLeft.Localize(g.Language)
		return none, nil
	}
	done := len(g.Steps())
	way := g.wayFrom(g.Steps())
	if way == nil {
		r, found, err := g.search(g.Steps(), patience)
		if err != nil {
			return none, err
		}
		if found == nil {
			none.Why = noneOf.Localize(g.Language, "n", r.Runs)
			if r.Exhausted {
				none.Why = noWayLeft.Localize(g.Language, "n", r.Bound)
			}
			return none, nil
		}
		way = found.Schedule
	}
	end, err := g.follow(way)
	if err != nil {
		return none, err
	}
	g.hints++
	next := slices.IndexFunc(g.Options(), func(o schedule.Option) bool { return o.Token == way[done] })
	return Hint{next, len(way) - done, g.brief(g.why(end, done))}, nil
}

// wayFrom is a way that begins with these steps, nil if none is known.
func (g *Game) wayFrom(steps []string) []string {
	for _, way := range g.ways {
		if len(way) > len(steps) && slices.Equal(way[:len(steps)], steps) {
			return way
		}
	}
	return nil
}

// Why a step leads to the goal.
var (
	nothingLeft = i18n.New("Nothing is left to choose.")
	noWayLeft   = i18n.New("From here no way is left up to cost {n}.")
	noneOf      = i18n.New("None of {n} schedules from here gets there.")

	itBreaks     = i18n.New("That breaks the rule: {what}.")
	asOfNow      = i18n.New("{client} learns how things are now. They can be different by the time it acts.")
	writesNow    = i18n.New("{client} writes now, whoever holds the lock.")
	getsBeside   = i18n.New("{client} gets the lock while {other} believes that it holds it.")
	getsKey      = i18n.New("{client} needs the lock, and nobody's key is in its way.")
	takesKeyAway = i18n.New("Without the key the next client gets the lock.")
	renewsKey    = i18n.New("The key gets a new lease, and stays.")
	goesIn       = i18n.New("{client} learns that it has the lock, and acts on it.")
	isTurnedAway = i18n.New("{client} is told no: the others have Redis to themselves.")
	readsOn      = i18n.New("{client} goes on only after it has read this reply.")
	losesLease   = i18n.New("{client} believes that it holds the lock when its lease ends.")
	freesLock    = i18n.New("The lease ends: what {client} still sends comes too late.")
	needsTime    = i18n.New("The next thing happens only after some time.")
	diesHere     = i18n.New("What {client} has begun, nobody finishes.")
	seesNothing  = i18n.New("{client} neither renews its lease nor notices that it ends.")
	wakesBlind   = i18n.New("{client} goes on as if no time had passed.")
	knowsNothing = i18n.New("{client} cannot know whether its command was executed.")
	wantsCleanup = i18n.New("{client} has to clean up after an error.")
)

// why says in a sentence what the step after so many others is good for, on a way that
// leads to the goal.
func (g *Game) why(way quiz.Run, done int) string {
	chosen := way.Chosen(done)
	say := func(t i18n.Text, pairs ...any) string {
		return t.Localize(g.Language, append(pairs, "client", chosen.Client)...)
	}
	if done == len(way.Schedule)-1 {
		return say(itBreaks, "what", way.Found[0].Text)
	}
	before := scene(way.Trace, way.Events(done))
	events := way.Trace.Events[way.Events(done):way.Events(done+1)]
	switch chosen.Action {
	case world.Execute:
		return whyExecute(before, events[0], say)
	case world.Deliver:
		return whyDeliver(events, say)
	case world.Tick:
		return whyTick(before, events, say)
	}
	return say(map[world.Action]i18n.Text{
		world.Crash: diesHere, world.Freeze: seesNothing, world.Thaw: wakesBlind, world.Heal: wakesBlind, world.Lose: knowsNothing, world.Leave: knowsNothing,
		world.Refuse: wantsCleanup,
	}[chosen.Action])
}

type sayer func(t i18n.Text, pairs ...any) string

func whyExecute(before *world.Scene, e world.Event, say sayer) string {
	if e.Op == world.OpInsert {
		return say(writesNow)
	}
	for _, effect := range e.Effects {
		switch others := before.Others(e.Client); {
		case effect.Kind == world.Installed && len(others) > 0:
			return say(getsBeside, "other", others[0])
		case effect.Kind == world.Installed:
			return say(getsKey)
		case effect.Kind == world.Removed:
			return say(takesKeyAway)
		case effect.Kind == world.Leased:
			return say(renewsKey)
		}
	}
	return say(asOfNow)
}

func whyDeliver(events []world.Event, say sayer) string {
	for _, e := range events {
		switch {
		case e.Acquires():
			return say(goesIn)
		case e.Kind == world.Returned && e.Result.Claim == world.ClaimRefused:
			return say(isTurnedAway)
		}
	}
	return say(readsOn)
}

func whyTick(before *world.Scene, events []world.Event, say sayer) string {
	for _, e := range events {
		for _, effect := range e.Effects {
			switch owner := effect.Owner.Client; {
			case e.Kind != world.Expired || owner == "":
			case before.Holds(owner) > 0:
				return say(losesLease, "client", owner)
			default:
				return say(freesLock, "client", owner)
			}
		}
	}
	return say(needsTime)
}
