package schedule

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Point is a moment at which all clients wait and the chooser chooses the next step.
type Point struct {
	Choices []Option
	Digest  func() uint64 // equal for states that continue equally
	World   *world.World
	Default int           // the choice without a fault
	Now     time.Duration // fake time since the beginning
	Events  int           // the number of events so far
}

// Option is a choice and its cost.
type Option struct {
	world.Choice
	Cost int
}

// Chooser returns the index of a choice of the point, or false to end the run.
type Chooser func(Point) (int, bool)

// Play runs a setup in a new world with the choices of choose.
func Play(t *testing.T, s Setup, choose Chooser) (Played, error) {
	played := Played{taken: s.From != nil}
	var err, stuck error
	end := 0
	played.Trace, err = world.Run(t, s.config(), func(w *world.World) {
		w.Observe()
		if s.From != nil {
			w.Begin(s.From.Failure.Script, s.From.Events)
		}
		r := &run{setup: s, world: w, actors: actors(w, s), played: &played, end: w.Now() + horizon}
		stuck = r.play(choose)
		end = len(w.Trace().Events)
	})
	if played.Trace != nil { // without the events of the world's cleanup
		played.Trace.Events = played.Trace.Events[:end]
	}
	if s.From != nil && errors.Is(err, world.ErrLeft) {
		err = nil // the failure's own run can end like that too
	}
	return played, errors.Join(err, stuck)
}

type run struct {
	setup  Setup
	world  *world.World
	actors []*actor
	played *Played
	last   string // the process that made the last step
	ticked bool   // the last step was a tick
	faults int
	waits  map[string]time.Duration // choice → the time since when it is possible
	end    time.Duration            // of the run
}

// longest is the maximum number of steps of a run.
const longest = 2000

func (r *run) play(choose Chooser) (err error) {
	r.world.Drive(func() bool {
		// One at a time: goroutines of one process would race for its connections.
		if slices.ContainsFunc(r.actors, (*actor).goOn) {
			return true
		}
		p := r.point()
		r.played.points = append(r.played.points[:len(r.played.Schedule)], p)
		if len(p.Choices) == 0 {
			r.world.GiveUp()
			return false
		}
		i, ok := choose(p)
		if !ok {
			return false
		}
		r.take(p.Choices[i])
		if len(r.played.Schedule) > longest {
			err = errors.New("schedule: the run does not end: the lock sends commands without a pause")
		}
		return err == nil
	})
	return err
}

// point returns the present moment.
func (r *run) point() Point {
	all := r.world.Choices(r.end)
	p := Point{World: r.world, Choices: make([]Option, 0, len(all)), Now: r.world.Now(), Events: len(r.world.Trace().Events)}
	runnable, mine := false, false
	pending := map[string]time.Duration{}
	for _, c := range all {
		if c.Action == world.Execute || c.Action == world.Deliver {
			runnable, mine = true, mine || c.Client == r.last
			pending[c.Token+c.What] = r.world.Now()
			if since, was := r.waits[c.Token+c.What]; was {
				pending[c.Token+c.What] = since
			}
		}
	}
	r.waits = pending
	// every client has finished or is dead
	over := !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.done() })
	for _, c := range all {
		if cost, ok := r.cost(c, runnable, mine, over); ok {
			p.Choices = append(p.Choices, Option{c, cost})
		}
	}
	p.Default = r.calm(p.Choices)
	p.Digest = func() uint64 { return r.digest(p.Choices) }
	return p
}

// cost returns the cost of a choice, and whether the environment allows it.
func (r *run) cost(c world.Choice, runnable, mine, over bool) (int, bool) {
	switch c.Action {
	case world.Execute, world.Deliver:
		if mine && c.Client != r.last {
			return 1, true
		}
		return 0, true
	case world.Thaw, world.Heal:
		return 0, true
	case world.Tick:
		if !runnable {
			return 0, true
		}
		return 1, !over && (!r.setup.Env.Short || r.mayWait())
	}
	stops := c.Action == world.Crash || c.Action == world.Freeze
	return 1, r.setup.Env.has(c.Action) && r.faults == 0 && (!stops || !over && r.mayStop(c.Client))
}

// digest adds the state that decides about choices and costs to the world's digest.
func (r *run) digest(options []Option) uint64 {
	more := []string{r.last, strconv.Itoa(r.faults), strconv.FormatBool(r.ticked)}
	if r.setup.Env.Short {
		for _, o := range options {
			more = append(more, strconv.FormatInt(int64(r.waits[o.Token+o.What]), 36))
		}
	}
	return r.world.Digest(more...)
}

// mayStop reports whether it matters that a process stops now rather than later: it has just done
// something, or time has passed for its timers.
func (r *run) mayStop(name string) bool { return r.last == name || r.ticked || r.last == "" }

// mayWait reports whether time may pass although a request or reply is pending, in an environment
// with short delays.
func (r *run) mayWait() bool {
	next := r.world.NextBy(r.end)
	for _, since := range r.waits {
		if next-since > lease/60 {
			return false
		}
	}
	return true
}

// calm returns the choice without a fault: the process of the last step continues, else the next
// process that can, else time passes, else a process thaws or gets its network back.
func (r *run) calm(options []Option) int {
	rank := func(o Option) int {
		switch {
		case o.Cost > 0:
			return 4
		case o.Action == world.Tick:
			return 2
		case o.Action == world.Thaw, o.Action == world.Heal:
			return 3
		case o.Client == r.last:
			return 0
		}
		return 1
	}
	best := 0
	for i, o := range options {
		if rank(o) < rank(options[best]) {
			best = i
		}
	}
	return best
}

func (r *run) take(o Option) {
	switch o.Action {
	case world.Crash, world.Freeze, world.Lose, world.Leave, world.Refuse:
		r.faults++
	case world.Execute, world.Deliver, world.Thaw, world.Heal:
		r.last = o.Client
	}
	r.ticked = o.Action == world.Tick
	o.Take()
	r.played.Costs = append(r.played.Costs, o.Cost)
	r.played.Schedule = append(r.played.Schedule, o.Token)
}

var isAstray = i18n.New("step {n}, {step}, is not possible: the lock has changed since, or the schedule has a typo")

// Astray returns the error for a step, counted from 1, that is not among the choices.
func Astray(n int, step string) error { return isAstray.Args("n", n, "step", step) }

// Follow returns a chooser for the given schedule that ends the run after it. It stores an error in
// err if a step is not among the choices.
func Follow(schedule []string, err *error) Chooser {
	at := 0
	return func(p Point) (int, bool) {
		if at == len(schedule) {
			return 0, false
		}
		at++
		i := slices.IndexFunc(p.Choices, func(o Option) bool { return o.Token == schedule[at-1] })
		if i < 0 {
			*err = Astray(at, schedule[at-1])
		}
		return max(i, 0), i >= 0
	}
}
