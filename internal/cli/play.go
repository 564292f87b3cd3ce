package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

func (a *app) playCommand() *cobra.Command {
	var stage string
	var asked game.Settings
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Be the scheduler: break a lock by hand, step by step",
		Long: "play lets you decide what happens next: which command Redis runs, which reply a client reads, " +
			"when time passes, what fails. The clients run the stage's real code. Bring them to break the " +
			"goal's rule, in as few steps as you can. Time stands still while you think. Without a terminal " +
			"the keys are read from the input, and spaces and line ends between them mean nothing.",
		Annotations: map[string]string{belowHelp: a.properties(goalsTitle, func(p schedule.Property) i18n.Text { return game.Goals[p.Name].Words }) +
			"\n" + a.environments()},
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := stages.Find(stage)
			if err != nil {
				return err
			}
			if err := asked.Check(); err != nil {
				return err
			}
			challenge, err := asked.Of(c)
			if err != nil {
				return err
			}
			g, err := game.New(a.t, challenge)
			if err == nil {
				g.Language = a.lang
				err = g.FindPar()
			}
			if err != nil {
				return failedError{err}
			}
			return (&player{app: a, Game: g}).play(cmd.InOrStdin())
		},
	}
	f := cmd.Flags()
	f.StringVar(&stage, "stage", "1", "the stage to play")
	f.StringVar(&asked.Goal, "goal", "", "the property to break; without it, what tells most about the stage")
	f.StringVar(&asked.Env, "env", "", "what may happen; without it, what suits the goal")
	f.IntVar(&asked.Clients, "clients", 2, "2 or 3")
	f.IntVar(&asked.Attempts, "attempts", 1, "how often each client asks for the lock, 1 or 2")
	return cmd
}

var (
	goalsTitle    = i18n.New("Goals:")
	soFar         = i18n.New("So far: go run . replay '{schedule}'")
	nothingToUndo = i18n.New("There is nothing to undo.")
	noKeyHere     = i18n.New("Unknown key {key}. Press one of {keys}.")
	pipeKeys      = i18n.New("{error}; try: echo KEYS | go run . play")
	noKeyRead     = i18n.New("no key can be read: {error}")
	keysAtEnd     = i18n.New("u, r and q")
	keysForOne    = i18n.New("1, u, r, h and q")
	keysForMany   = i18n.New("{first} to {last}, u, r, h and q")
	hintStep      = i18n.NewPlural("Hint: {key}. The goal is 1 step away. {why}", "Hint: {key}. The goal is {n} steps away. {why}")
	hintTry       = i18n.New("Hint: try. {why}")
	hintUndo      = i18n.New("Hint: undo (u), or restart (r). {why}")
	keysEnded     = i18n.NewPlural("the keys have ended after 1 step, and the goal is not reached: go run . replay '{schedule}'",
		"the keys have ended after {n} steps, and the goal is not reached: go run . replay '{schedule}'")
)

// choiceKeys are the keys of the options; u, r, h and q are others.
const choiceKeys = "123456789abcdefgijklmnopstvwxyz"

// player is a person at a game.
type player struct {
	*game.Game
	app  *app
	note string // what to say beside the next screen
}

// keyboard reads single keys if a person sits at a terminal, else the input.
func (a *app) keyboard(in io.Reader) (*keyboard.Keyboard, error) {
	if _, shown := keyboard.Terminal(a.out); !shown {
		return keyboard.Piped(in), nil
	}
	keys, err := keyboard.Open(in)
	if err != nil {
		return nil, pipeKeys.Args("error", err)
	}
	return keys, nil
}

// play lets the player play, until he leaves, and prints the schedule for a friend.
func (p *player) play(in io.Reader) error {
	keys, err := p.app.keyboard(in)
	if err != nil {
		return err
	}
	defer keys.Close()
	left, err := p.turns(keys)
	keys.Close()
	if keys.IsTerminal() {
		fmt.Fprintln(p.app.out)
	}
	if left && len(p.Steps()) > 0 && !p.Reached() {
		fmt.Fprintln(p.app.out, p.app.say(soFar, "schedule", p.Text()))
	}
	return err
}

// turns shows a position, reads a key, and does what it says, again and again, until the
// player leaves or the keys have ended.
func (p *player) turns(keys *keyboard.Keyboard) (left bool, err error) {
	before, after := "", "\n\n" // below the last screen
	if keys.IsTerminal() {
		before, after = term.Clear, ""
	}
	for {
		view, err := p.View()
		if err != nil {
			return false, failedError{err}
		}
		key, err := keys.NextOn(p.app.out, func() {
			fmt.Fprint(keys.Screen(p.app.out), before+strings.Join(p.app.screen(view, p.note), "\n")+after)
		})
		switch {
		case err == io.EOF:
			return false, p.ended()
		case err != nil:
			return false, noKeyRead.Args("error", err)
		case key == 'q' || key == keyboard.Interrupt:
			return true, nil
		}
		if err := p.press(key); err != nil {
			return false, failedError{err}
		}
	}
}

// press does what a key says.
func (p *player) press(key rune) error {
	p.note = ""
	switch {
	case key == 'u':
		if len(p.Steps()) == 0 {
			p.note = p.app.say(nothingToUndo)
		}
		return p.Undo()
	case key == 'r':
		return p.Restart()
	case key == 'h' && len(p.Options()) > 0:
		h, err := p.Hint()
		p.note = p.hint(h)
		return err
	}
	i := strings.IndexRune(choiceKeys, key)
	if i < 0 || i >= len(p.Options()) {
		p.note = p.app.say(noKeyHere, "key", fmt.Sprintf("%q", key), "keys", p.keysHere())
		return nil
	}
	return p.Choose(i)
}

// hint says what to do next, and why.
func (p *player) hint(h game.Hint) string {
	switch {
	case h.Option >= 0:
		return hintStep.Of(h.Away, "key", choiceKeys[h.Option:h.Option+1], "why", h.Why).Localize(p.app.lang)
	case len(p.Steps()) == 0:
		return p.app.say(hintTry, "why", h.Why)
	}
	return p.app.say(hintUndo, "why", h.Why)
}

// keysHere names the keys that do something.
func (p *player) keysHere() string {
	switch n := len(p.Options()); n {
	case 0:
		return p.app.say(keysAtEnd)
	case 1:
		return p.app.say(keysForOne)
	default:
		return p.app.say(keysForMany, "first", choiceKeys[:1], "last", choiceKeys[n-1:n])
	}
}

// ended ends a game whose keys have ended.
func (p *player) ended() error {
	if p.Won {
		return nil
	}
	return failedError{keysEnded.Of(len(p.Steps()), "schedule", p.Text())}
}
