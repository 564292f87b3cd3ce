// Package game lets a person schedule a lock's clients: choose which command Redis executes next,
// which reply a client reads, when time passes, and what fails. The player has to break a rule
// with as few faults and steps as possible.
//
// A [Game] needs no terminal: [Game.View] returns the position as data, which a terminal or a
// page draws.
package game

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Game is a challenge with the steps taken so far.
type Game struct {
	Challenge
	Language i18n.Language
	Won      bool // the goal was reached, at least once
	// Stop ends a search for a way to the goal when it returns true. nil: never.
	Stop func(schedule.Progress) bool

	t     *testing.T
	key   string // the lock's key, shown as K
	at    Run
	par   i18n.Message // the best known way to the goal, in words
	ways  [][]string   // schedules that reach the goal
	hints int
}

// New returns a game at its beginning. It returns an error if the lock cannot be played.
func New(t *testing.T, c Challenge) (*Game, error) { return newAt(t, c, nil) }

// newAt returns a game after these steps.
func newAt(t *testing.T, c Challenge, steps []string) (*Game, error) {
	var err error
	if c.Subject, err = failures.DiscoverScripts(t, c.Subject); err != nil {
		return nil, err
	}
	g := &Game{Challenge: c, t: t}
	if err := g.Set(steps); err != nil {
		return g, err
	}
	if g.key = g.Trace().LockKey(); g.key == "" { // a run that goes on shows it
		_, err = schedule.Play(t, g.Setup, func(p schedule.Point) (int, bool) {
			g.key = p.World.Trace().LockKey()
			return p.Default, g.key == ""
		})
	}
	return g, err
}

// Replay returns the game at the end of a schedule's string.
func Replay(t *testing.T, text string, of []stages.Stage) (*Game, error) {
	c, steps, err := Read(text, of)
	if err != nil {
		return nil, err
	}
	return newAt(t, c, steps)
}

// Steps returns the tokens of the steps taken.
func (g *Game) Steps() []string { return g.at.Schedule }

// Text returns the schedule so far as a string for replay.
func (g *Game) Text() string { return schedule.Text(g.Setup, g.at.Schedule) }

// Reached reports whether the goal is reached here.
func (g *Game) Reached() bool { return len(g.at.Found) > 0 }

// Trace returns the events so far.
func (g *Game) Trace() *trace.Trace { return g.at.Trace }

// Found returns where the run breaks the goal's rule.
func (g *Game) Found() []oracle.Finding { return g.at.Found }

// Options returns the possible next steps: none after the goal.
func (g *Game) Options() []schedule.Option {
	if g.Reached() {
		return nil
	}
	return g.at.Options(len(g.Steps()))
}

// Choose takes the option of that index as the next step.
func (g *Game) Choose(option int) error {
	options := g.Options()
	if option < 0 || option >= len(options) {
		return fmt.Errorf("there is no option %d: there are %d", option, len(options))
	}
	return g.Set(append(slices.Clone(g.Steps()), options[option].Token))
}

// Undo takes the last step back, if there is one.
func (g *Game) Undo() error { return g.Set(g.Steps()[:max(len(g.Steps())-1, 0)]) }

// Restart takes all steps back.
func (g *Game) Restart() error { return g.Set(nil) }

// Set goes to the end of a schedule. If the schedule is not possible the game does not change.
func (g *Game) Set(steps []string) error {
	run, err := Follow(g.t, g.Setup, steps)
	if err != nil {
		return err
	}
	g.at = run
	g.Won = g.Won || len(run.Found) > 0
	return nil
}

// Run is a lock's run under a schedule.
type Run struct {
	schedule.Played
	Found []oracle.Finding // where it breaks the setup's property
}

// Follow runs a lock from its beginning under these steps, and stops at the end or before a step
// that is not possible, which is the error.
func Follow(t *testing.T, setup schedule.Setup, steps []string) (Run, error) {
	var astray error
	r, err := Play(t, setup, schedule.Follow(steps, &astray))
	if n := len(r.Schedule); astray == nil && n < len(steps) {
		astray = schedule.Astray(n+1, steps[n])
	}
	return r, cmp.Or(err, astray)
}

// Play runs a lock with the steps that the chooser takes.
func Play(t *testing.T, setup schedule.Setup, choose schedule.Chooser) (r Run, err error) {
	r.Played, err = schedule.Play(t, setup, choose)
	if err == nil {
		r.Found = r.Broken(setup.Property.Breaks)
	}
	return r, err
}

// Goal describes breaking a property, and names the environment where that is best tried.
type Goal struct {
	Words i18n.Text
	Env   string
}

// Goals has a goal for each property.
var Goals = map[string]Goal{
	"leak":          {i18n.New("leave a key in Redis forever, or longer than it is needed"), "crash"},
	"wrong-delete":  {i18n.New("make one client delete another client's lock"), "async"},
	"exclusion":     {i18n.New("let two clients hold the lock at once"), "async"},
	"damage":        {i18n.New("get the same order into the ledger twice"), "pause"},
	"truth":         {i18n.New("make a call return something untrue"), "reply-loss"},
	"watchdog":      {i18n.New("let a holder's key expire despite its watchdog"), "async"},
	"wake-up":       {i18n.New("let a client wait although the lock is free"), "short-pauses"},
	"damage-fenced": {i18n.New("get the same order twice into a ledger that checks tokens"), "pause"},
}

// Possible next steps.
var (
	actions = map[world.Action]i18n.Text{
		world.Execute: i18n.New("Redis executes {client}'s {what}"),
		world.Deliver: i18n.New("{client} reads {what}"),
		world.Crash:   i18n.New("{client} dies"),
		world.Freeze:  i18n.New("{client} stands still"),
		world.Thaw:    i18n.New("{client} goes on"),
		world.Heal:    i18n.New("{client} has its network again"),
		world.Lose:    i18n.New("{client} never reads {what}: its connection breaks"),
		world.Refuse:  i18n.New("Redis is full, and refuses {client}'s {what}"),
		world.Leave:   i18n.New("the caller of {client}'s {what} gives up"),
		world.Tick:    i18n.New("time passes, to {time}"),
	}
	ledgerTells = i18n.New("the ledger tells {client} whether it has the order {what}")
	ledgerTakes = i18n.New("the ledger takes the order {what} from {client}")
	itSends     = i18n.New("{client} sends {command}.")
	itBrings    = i18n.New("{what}. {then}")
)
