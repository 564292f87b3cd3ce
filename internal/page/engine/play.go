package engine

import (
	"cmp"
	"errors"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Texts about a game that cannot begin, and about its end.
var (
	noRun    = i18n.New("{failure} has no run on {lock}")
	noStep   = i18n.New("{failure} on {lock} has {n} steps, and no step {step}")
	isBroken = i18n.New("BROKEN: {what}.")
	isSafe   = i18n.New("SAFE in this run: {what}.")
	noneIs   = i18n.New("no rule is broken")
)

// Position is the state of a game.
type Position struct {
	View    game.View     `json:"view"`
	Files   []stages.File `json:"files,omitempty"` // of the lock; only at the beginning of a game
	Run     Run           `json:"run"`             // the events so far
	Verdict string        `json:"verdict"`         // only where no option is left
	Tone    timeline.Tone `json:"tone,omitempty"`  // of the verdict
	Line    string        `json:"line,omitempty"`  // of the lock that broke the rule: "mutex.go:87"
	Taken   string        `json:"taken,omitempty"` // the failure whose run was taken over
	Hint    *game.Hint    `json:"hint,omitempty"`
}

// begin begins a game: from a challenge, from a schedule's string, or from a run that is taken over.
func (e *Engine) begin(r Request) (Position, error) {
	settings := game.Settings{Goal: r.Goal, Env: r.Env, Clients: cmp.Or(r.Clients, 2), Attempts: cmp.Or(r.Attempts, 1)}
	var l lock
	var g *game.Game
	var challenge game.Challenge
	var err error
	switch r.Op {
	case "replay":
		if l, err = e.find(r); err == nil {
			g, err = game.Replay(e.t, r.Schedule, []stages.Stage{l.Stage})
		}
	case "take":
		l, challenge, err = e.take(r, settings)
	default:
		if l, err = e.find(r); err == nil {
			challenge, err = settings.Of(l.Stage)
		}
	}
	if err == nil && g == nil {
		g, err = game.New(e.t, challenge)
	}
	if err != nil {
		return Position{}, err
	}
	e.game, e.played = g, l
	g.Language = r.Lang
	g.KnowsWay()
	p, err := e.position()
	p.Files = l.code.Files
	return p, err
}

// take returns a challenge that takes a run over after a step as drawn.
func (e *Engine) take(r Request, settings game.Settings) (lock, game.Challenge, error) {
	none := game.Challenge{}
	l, v, err := e.verdict(r)
	if err != nil {
		return l, none, err
	}
	if v.Trace == nil {
		return l, none, noRun.Args("failure", r.Failure, "lock", l.NameText())
	}
	rows := timeline.NewStory(v.Trace, v.Findings, r.Lang).Rows()
	if r.Step < 1 || r.Step > len(rows) {
		return l, none, noStep.Args("failure", r.Failure, "lock", l.NameText(), "n", len(rows), "step", r.Step)
	}
	challenge, err := settings.Taken(l.Stage, v.Failure, rows[r.Step-1].Last+1)
	return l, challenge, err
}

// play takes a turn in the game.
func (e *Engine) play(r Request, tell Tell) (Position, error) {
	if e.game == nil {
		return Position{}, errors.New("no game has begun")
	}
	e.use(e.played)
	e.game.Language = r.Lang
	e.game.Stop = stop(tell)
	var hint *game.Hint
	var err error
	switch r.Op {
	case "choose":
		err = e.game.Choose(r.Option)
	case "undo":
		err = e.game.Undo()
	case "restart":
		err = e.game.Restart()
	case "par":
		err = e.game.FindPar()
	case "hint":
		var h game.Hint
		h, err = e.game.Hint()
		hint = &h
	}
	if err != nil {
		return Position{}, err
	}
	p, err := e.position()
	p.Hint = hint
	return p, err
}

// position returns the game's position.
func (e *Engine) position() (Position, error) {
	g := e.game
	view, err := g.View()
	// A picture marks two holders against the rule, even if the goal is another one.
	found := oracle.Ask(g.Trace(), append([]oracle.Rule{oracle.Exclusion}, g.Property.Breaks...)...)
	p := Position{View: view, Run: NewRun(g.Trace(), found, e.played.code, g.Language)}
	if g.From != nil {
		p.Taken = g.From.Failure.ID
	}
	if err == nil && len(view.Options) == 0 {
		p.end(g, newSources(e.played.code))
	}
	return p, err
}

// end adds the verdict on a game that has ended: by the goal's rule, or else by all rules.
func (p *Position) end(g *game.Game, of *sources) {
	found := g.Found()
	if len(found) == 0 {
		found = oracle.Judge(g.Trace())
	}
	p.Verdict, p.Tone = isSafe.Localize(g.Language, "what", noneIs), timeline.Good
	if len(found) > 0 {
		what := strings.TrimPrefix(found[0].Sentence(g.Language), "✗ ")
		p.Verdict, p.Tone = isBroken.Localize(g.Language, "what", what), timeline.Bad
		p.Line = of.known(found[0].CommandIn(g.Trace()).Source)
	}
	p.Verdict = p.Run.shorten(p.Verdict)
}
