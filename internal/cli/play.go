package cli

import (
	"cmp"
	"context"
	"errors"
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
			"when time passes, what fails. Bring the stage's real code to break the goal's rule, with as few " +
			"faults and steps as you can. Press one key for each step, without Enter. Without a terminal the " +
			"keys are read from the input.",
		Annotations: map[string]string{belowHelp: a.properties(goalsTitle, func(p schedule.Property) i18n.Text { return game.Goals[p.Name].Words }) +
			"\n" + a.environments()},
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := stages.Find(stage)
			if err := cmp.Or(err, inRange(cmd, "clients", 2, 3), inRange(cmd, "attempts", 1, 2)); err != nil {
				return err
			}
			challenge, err := asked.Of(c)
			if err != nil {
				return err
			}
			g, err := game.New(a.t, challenge)
			if err == nil {
				g.Language, g.Stop = a.lang, func(schedule.Progress) bool { return cmd.Context().Err() != nil }
				err = cmp.Or(g.FindPar(), cmd.Context().Err())
			}
			if err != nil {
				return failedError{err}
			}
			return (&player{app: a, Game: g}).play(cmd.Context(), cmd.InOrStdin())
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
	goalsTitle = i18n.New("Goals:")
	soFar      = i18n.New("So far: go run . replay '{schedule}'")
	noKeyHere  = i18n.New("Unknown key {key}. You can press one of the keys on the left, or below.")
	pipeKeys   = i18n.New("{error}; try: echo KEYS | go run . play")
	noKeyRead  = i18n.New("no key can be read: {error}")
	hintStep   = i18n.NewPlural("Hint: {key}. The goal is 1 step away. {why}", "Hint: {key}. The goal is {n} steps away. {why}")
	hintUndo   = i18n.New("Hint: try another way, or undo (u). {why}")
	keysEnded  = i18n.NewPlural("the keys have ended after 1 step, and the goal is not reached: go run . replay '{schedule}'",
		"the keys have ended after {n} steps, and the goal is not reached: go run . replay '{schedule}'")
)

// choiceKeys are the keys of the options; u, r, h and q have other meanings.
const choiceKeys = "123456789abcdefgijklmnopstvwxyz"

// player is a person who plays a game.
type player struct {
	*game.Game
	app  *app
	hint string // shown until the next step
	note string // shown until the next key
}

// play runs the game until the player quits, and prints the schedule. It reads single keys from a
// terminal, or else the input.
func (p *player) play(ctx context.Context, in io.Reader) (err error) {
	var keys *keyboard.Keyboard
	if _, shown := keyboard.Terminal(p.app.out); !shown {
		keys = keyboard.Piped(in)
	} else if keys, err = keyboard.Open(in); err != nil {
		return pipeKeys.Args("error", err)
	}
	err = p.turns(ctx, keys)
	keys.Close()
	if keys.IsTerminal() {
		fmt.Fprintln(p.app.out)
	}
	isLeft := err == nil || errors.Is(err, context.Canceled)
	switch {
	case isLeft && len(p.Steps()) > 0 && !p.Reached():
		fmt.Fprintln(p.app.out, p.app.say(soFar, "schedule", p.Text()))
	case errors.Is(err, io.EOF) && p.Won:
		return nil
	case errors.Is(err, io.EOF):
		return failedError{keysEnded.Of(len(p.Steps()), "schedule", p.Text())}
	}
	return err
}

// turns shows a position, reads a key and handles it, until the player quits. The error is [io.EOF]
// when the keys have ended, and [context.Canceled] when the player is interrupted.
func (p *player) turns(ctx context.Context, keys *keyboard.Keyboard) error {
	for {
		view, err := p.View()
		if err != nil {
			return failedError{err}
		}
		key, err := keys.NextOn(ctx, p.app.out, func() {
			text := p.screen(view, keyboard.Width(p.app.out, usualScreen)) + "\n\n"
			if keys.IsTerminal() {
				text = term.Clear + strings.TrimSpace(text)
			}
			fmt.Fprint(keys.Screen(p.app.out), text)
		})
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, context.Canceled):
			return err
		case err != nil:
			return noKeyRead.Args("error", err)
		case key == 'q':
			return nil
		case key == keyboard.Interrupt:
			return context.Canceled
		}
		if err := p.press(key); err != nil {
			return failedError{err}
		}
	}
}

// press handles a key. It ignores Enter.
func (p *player) press(key rune) (err error) {
	i := strings.IndexRune(choiceKeys, key)
	p.note = ""
	switch {
	case key == '\r':
		return nil
	case key == 'h' && len(p.Options()) > 0:
		h, err := p.Hint()
		p.hint = p.app.say(hintUndo, "why", h.Why)
		if h.Option >= 0 {
			p.hint = hintStep.Of(h.Away, "key", choiceKeys[h.Option:h.Option+1], "why", h.Why).Localize(p.app.lang)
		}
		return err
	case key == 'u':
		err = p.Undo()
	case key == 'r':
		err = p.Restart()
	case i >= 0 && i < len(p.Options()):
		err = p.Choose(i)
	default:
		p.note = p.app.say(noKeyHere, "key", fmt.Sprintf("%q", key))
		return nil
	}
	p.hint = ""
	return err
}
