package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// played runs play with these keys on its input.
func played(t *testing.T, keys string, args ...string) (status int, out, errors string) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	return commandWithKeys(t, keys, append([]string{"play"}, args...)...)
}

// commandWithKeys is [command] with an input.
func commandWithKeys(t *testing.T, keys string, args ...string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{t: t, sources: os.DirFS("../.."), in: strings.NewReader(keys), out: &stdout, err: &stderr, width: 120}
	status = a.run(args)
	return status, stdout.String(), stderr.String()
}

// screens splits the output into screens.
func screens(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n") }

const winning3 = "2222 2231 2" // the keys in the README

func TestKeysFromAPipeWin(t *testing.T) {
	status, out, errors := played(t, winning3, "--stage", "3", "--goal", "wrong-delete")
	require.Equal(t, exitOK, status, errors)
	all := screens(out)
	require.Len(t, all, 10)
	last := all[9]
	require.Contains(t, last, "✓ wrong delete: B's DEL removes the lock of A (A1).\n")
	require.Contains(t, last, "You did it in 9 steps, 3 faults. The best way takes 9 steps, 3 faults.\n")
	require.Contains(t, last, "go run . replay '"+wrongDelete3+"'\n")
	require.NotContains(t, out, "\x1b", "nothing is painted or cleared without a terminal")
}

func TestScreenShowsClientsAndFaults(t *testing.T) {
	_, out, _ := played(t, "2212q", "--stage", "3", "--goal", "exclusion")
	first, screen := screens(out)[0], screens(out)[3]
	require.Contains(t, first, "Press one key for each step, without Enter.")
	require.NotContains(t, screen, "Press one key")
	for _, part := range []string{
		"Goal: let two clients hold the lock at once (exclusion).\n",
		"Environment: commands, replies and writes can be delayed by any time (async).\n",
		"A   TryLock: hasn't read yet: (nil)                                  mutex.go:64\n",
		"B │ asks the ledger whether it has the order tea\n",
		"── Redis, at 0s: K is lock:order:1001 ─",
		"K B1             ██████████████████████████████ 30s left\n",
		"ledger  empty\n",
		"1  A reads (nil)\n",
		"2  the ledger tells B whether it has the order tea                       a fault\n",
		"3  time passes, to 30s. The lease ends, and Redis removes the key.       a fault\n",
		"3 steps, 1 fault",
	} {
		require.Contains(t, screen, part)
	}
}

func TestUndoAndRestart(t *testing.T) {
	_, out, _ := played(t, "22u2rq", "--stage", "3")
	all := screens(out)
	require.Equal(t, all[1], all[3], "undo goes back by one step")
	require.Equal(t, all[2], all[4], "the same key leads to the same place")
	require.Equal(t, all[0], all[5], "restart goes back to the beginning")
	_, out, _ = played(t, "u9é\x1bq")
	all = screens(out)
	require.Equal(t, all[0], all[1], "there is nothing to undo")
	require.Contains(t, all[2], "Unknown key '9'. You can press")
	require.Contains(t, all[3], "Unknown key 'é'.")
	require.Contains(t, all[4], "0 steps")
}

func TestGameGoesOnAfterTheGoal(t *testing.T) {
	status, out, _ := played(t, winning3+"1uq", "--stage", "3")
	require.Equal(t, exitOK, status)
	all := screens(out)
	require.Contains(t, all[10], "Unknown key '1'. You can press")
	require.Equal(t, all[8], all[11])
	status, _, errors := played(t, winning3+"r", "--stage", "3")
	require.Equal(t, exitOK, status, "won is won: %s", errors)
}

// player3 returns a player of stage 3.
func player3(t *testing.T) *player {
	t.Helper()
	challenge, err := game.Settings{Clients: 2, Attempts: 1}.Of(stages.MustFind("3"))
	require.NoError(t, err)
	g, err := game.New(t, challenge)
	require.NoError(t, err)
	g.KnowsWay()
	return &player{app: &app{t: t, sources: os.DirFS("../..")}, Game: g}
}

func TestHintStaysUntilTheNextStep(t *testing.T) {
	p := player3(t)
	for _, key := range "h\rx" {
		require.NoError(t, p.press(key))
		require.Equal(t, "Hint: 2. The goal is 9 steps away. B needs the lock, and there is no key.", p.hint)
	}
	require.NotEmpty(t, p.note)
	require.NoError(t, p.press('1'))
	require.Empty(t, p.hint+p.note)
	_, out, _ := played(t, "11111111h", "--stage", "3", "--env", "short-pauses")
	require.Contains(t, out, "Hint: try another way, or undo (u). No way is known: there is none with up to 4\nfaults.")
}

func TestScreenIsAsWideAsTheTerminal(t *testing.T) {
	p := player3(t)
	p.app.lang = "zh"
	v, err := p.View()
	require.NoError(t, err)
	for _, width := range []int{60, 80, 120} {
		widest := 0
		for line := range strings.Lines(p.screen(v, width)) {
			widest = max(widest, term.Columns(strings.TrimSpace(line)))
		}
		require.Equal(t, width, widest)
	}
	require.Equal(t, "这里需要 60 列，终端只有 59 列", p.screen(v, 59))
}

func TestKeysThatEndTooSoonAreAFailure(t *testing.T) {
	for keys, steps := range map[string]string{"": "0 steps", "2": "1 step", "22\n2\n": "3 steps"} {
		status, _, errors := played(t, keys, "--stage", "3")
		require.Equal(t, exitFailed, status)
		require.Regexp(t, `^the keys have ended after `+steps+`, and the goal is not reached: go run \. replay 'v1/stage3/`, errors)
	}
	status, out, errors := played(t, "22q222", "--stage", "3")
	require.Equal(t, exitOK, status, "but to quit is none: %s", errors)
	require.True(t, strings.HasSuffix(out, "So far: go run . replay 'v1/stage3/2c/1x/async/wrong-delete/b.B'\n"))
}

// No text that a player needs is cut. Three clients need the most room.
func TestEveryScreenFitsATerminalOf80By24(t *testing.T) {
	for _, s := range stages.Public() {
		for _, p := range schedule.Properties {
			if !p.Suits(s.Subject) {
				continue
			}
			var out bytes.Buffer
			a := &app{t: t, sources: os.DirFS("../.."), out: &out, width: 120}
			challenge, err := game.Settings{Goal: p.Name, Clients: 3, Attempts: 1}.Of(s)
			require.NoError(t, err)
			g, err := game.New(t, challenge)
			require.NoError(t, err)
			require.NoError(t, (&player{app: a, Game: g}).play(t.Context(), strings.NewReader(strings.Repeat("1243", 3)+"21211111q")))
			for _, screen := range screens(out.String()) {
				if strings.HasPrefix(screen, "So far") {
					continue
				}
				lines := strings.Split(screen, "\n")
				require.NotContains(t, strings.Join(lines[:3], ""), "…")
				require.LessOrEqual(t, len(lines), 24, screen)
				for _, line := range lines {
					if !strings.HasPrefix(line, "go run . replay ") {
						require.LessOrEqual(t, len([]rune(line)), 80, line)
					}
				}
			}
		}
	}
}
