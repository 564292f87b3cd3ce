package game

import (
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
	"lockkata/internal/texts"
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
		none.Why = nothingLeft.In(g.Language)
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
			none.Why = noneOf.In(g.Language, "n", r.Runs)
			if r.Exhausted {
				none.Why = noWayLeft.In(g.Language, "n", r.Bound)
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
	nothingLeft = texts.New("Nothing is left to choose.")
	noWayLeft   = texts.New("From here no way is left up to cost {n}.")
	noneOf      = texts.New("None of {n} schedules from here gets there.")

	itBreaks     = texts.New("That breaks the rule: {what}.")
	asOfNow      = texts.New("{client} learns how things are now. They can be different by the time it acts.")
	writesNow    = texts.New("{client} writes now, whoever holds the lock.")
	getsBeside   = texts.New("{client} gets the lock while {other} believes that it holds it.")
	getsKey      = texts.New("{client} needs the lock, and nobody's key is in its way.")
	takesKeyAway = texts.New("Without the key the next client gets the lock.")
	renewsKey    = texts.New("The key gets a new lease, and stays.")
	goesIn       = texts.New("{client} learns that it has the lock, and acts on it.")
	isTurnedAway = texts.New("{client} is told no: the others have Redis to themselves.")
	readsOn      = texts.New("{client} goes on only after it has read this reply.")
	losesLease   = texts.New("{client} believes that it holds the lock when its lease ends.")
	freesLock    = texts.New("The lease ends: what {client} still sends comes too late.")
	needsTime    = texts.New("The next thing happens only after some time.")
	diesHere     = texts.New("What {client} has begun, nobody finishes.")
	seesNothing  = texts.New("{client} neither renews its lease nor notices that it ends.")
	wakesBlind   = texts.New("{client} goes on as if no time had passed.")
	knowsNothing = texts.New("{client} cannot know whether its command was executed.")
	wantsCleanup = texts.New("{client} has to clean up after an error.")
)

// why says in a sentence what the step after so many others is good for, on a way that
// leads to the goal.
func (g *Game) why(way quiz.Run, done int) string {
	chosen := way.Chosen(done)
	say := func(t texts.Text, pairs ...any) string {
		return t.In(g.Language, append(pairs, "client", chosen.Client)...)
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
	return say(map[world.Action]texts.Text{
		world.Crash: diesHere, world.Freeze: seesNothing, world.Thaw: wakesBlind, world.Heal: wakesBlind, world.Lose: knowsNothing, world.Leave: knowsNothing,
		world.Refuse: wantsCleanup,
	}[chosen.Action])
}

type sayer func(t texts.Text, pairs ...any) string

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
