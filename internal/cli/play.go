package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

func (a *app) playCommand() *cobra.Command {
	var clients, attempts int
	var stage, goal, env string
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Be the scheduler: break a lock by hand, step by step",
		Long: "play lets you decide what happens next: which command Redis runs, which reply a client reads,\n" +
			"when time passes, what fails. The clients run the stage's real code. Bring them to break the\n" +
			"goal's rule, in as few steps as you can. Time stands still while you think. Without a terminal\n" +
			"the keys are read from the input, and spaces and line ends between them mean nothing.\n\n" +
			"Goals:\n" + table(schedule.Properties, func(p schedule.Property) (string, string) { return p.Name, goals[p.Name].words }) +
			"\nEnvironments:\n" + table(schedule.Envs, func(e schedule.Env) (string, string) { return e.Name, e.About }),
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := columns.Find(stage)
			if err != nil {
				return err
			}
			g, err := a.challenge(s, goal, env, clients, attempts)
			if err != nil {
				return err
			}
			if err := g.findPar(); err != nil {
				return err
			}
			return g.play(cmd.InOrStdin())
		},
	}
	f := cmd.Flags()
	f.StringVar(&stage, "stage", "1", "the stage to play")
	f.StringVar(&goal, "goal", "", "the property to break; without it, what tells most about the stage")
	f.StringVar(&env, "env", "", "what may happen; without it, what suits the goal")
	f.IntVar(&clients, "clients", 2, "2 or 3")
	f.IntVar(&attempts, "attempts", 1, "how often each client asks for the lock, 1 or 2")
	return cmd
}

// choiceKeys are the keys of the choices; u, r, h and q are others.
const choiceKeys = "123456789abcdefgijklmnopstvwxyz"

// game is a lock, a goal, and how far the player is.
type game struct {
	app     *app
	stage   columns.Column
	setup   schedule.Setup
	par     par
	key     string // the lock's key, which is shown as K
	steps   []string
	ways    [][]string // schedules that reach the goal
	hints   int
	note    string // what to say beside the next screen
	reached bool   // the goal, at least once
}

// errEnded says that there are no more keys.
var errEnded = errors.New("the keys have ended")

// keyboard reads single keys if a person sits at a terminal, else the input.
func (a *app) keyboard(in io.Reader) (*keyboard.Keyboard, error) {
	if _, shown := keyboard.Terminal(a.out); !shown {
		return keyboard.Piped(in), nil
	}
	keys, err := keyboard.Open(in)
	if err != nil {
		return nil, fmt.Errorf("%w; try: echo KEYS | go run . play", err)
	}
	return keys, nil
}

// play lets the player play, until he leaves, and prints the schedule for a friend.
func (g *game) play(in io.Reader) error {
	keys, err := g.app.keyboard(in)
	if err != nil {
		return err
	}
	defer keys.Close()
	m, err := g.turns(keys)
	keys.Close()
	if keys.IsTerminal() {
		fmt.Fprintln(g.app.out)
	}
	if err == nil && len(m.Schedule) > 0 && len(m.found) == 0 {
		fmt.Fprintf(g.app.out, "So far: go run . replay '%s'\n", schedule.Text(g.setup, m.Schedule))
	}
	return err
}

// turns shows a position, reads a key, and does what it says, again and again. It
// returns the position that the player has left.
func (g *game) turns(keys *keyboard.Keyboard) (position, error) {
	before, after := "", "\n\n" // below the last screen
	if keys.IsTerminal() {
		before, after = term.Clear, ""
	}
	for {
		m, err := runSteps(g.app.t, g.setup, g.steps)
		if err != nil {
			return m, failedError{err.Error()}
		}
		g.reached = g.reached || len(m.found) > 0
		screen, err := g.screen(m)
		if err != nil {
			return m, failedError{err.Error()}
		}
		fmt.Fprint(keys.Screen(g.app.out), before+strings.Join(screen, "\n")+after)
		key, err := keys.Next()
		switch {
		case err == io.EOF:
			return position{}, g.ended(m)
		case err != nil:
			return m, fmt.Errorf("no key can be read: %w", err)
		case key == 'q':
			return m, nil
		}
		if err := g.press(key, m); err != nil {
			return m, err
		}
	}
}

// press does what a key says.
func (g *game) press(key rune, m position) (err error) {
	g.note = ""
	switch {
	case key == 'u':
		if len(g.steps) == 0 {
			g.note = "There is nothing to undo."
		} else {
			g.steps = g.steps[:len(g.steps)-1]
		}
	case key == 'r':
		g.steps = nil
	case key == 'h' && len(g.choices(m)) > 0:
		g.note, err = g.hint(m)
	default:
		i := strings.IndexRune(choiceKeys, key)
		if i < 0 || i >= len(g.choices(m)) {
			g.note = fmt.Sprintf("%q is no key here. There are %s.", key, g.keysHere(m))
			return nil
		}
		g.steps = append(slices.Clone(g.steps), m.Next()[i].Token)
	}
	return err
}

// choices are what can be done next: nothing after the goal.
func (g *game) choices(m position) []schedule.Option {
	if len(m.found) > 0 {
		return nil
	}
	return m.Next()
}

// keysHere names the keys that do something.
func (g *game) keysHere(m position) string {
	switch n := len(g.choices(m)); n {
	case 0:
		return "u, r and q"
	case 1:
		return "1, u, r, h and q"
	default:
		return fmt.Sprintf("%c to %c, u, r, h and q", choiceKeys[0], choiceKeys[n-1])
	}
}

// ended ends a game whose keys have ended.
func (g *game) ended(m position) error {
	if g.reached {
		return nil
	}
	return failedError{fmt.Sprintf("%v after %s, and the goal is not reached: go run . replay '%s'",
		errEnded, count(len(m.Schedule), "step"), schedule.Text(g.setup, m.Schedule))}
}
