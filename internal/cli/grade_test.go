package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

func TestCardHasOneLineForAllThatALockLacks(t *testing.T) {
	subject := stages.MustFind("4").Subject
	var card apart.Card
	for _, id := range []string{"renew-blip", "renew-partition", "late-unlock"} {
		f, _ := catalogue.Find(id)
		card.Cells = append(card.Cells, failures.Cell{Verdict: failures.Run(t, f, subject)})
	}
	a, out, _ := onTerminal(t, usualWidth)
	a.gradeCells(card)
	require.Equal(t, 1, strings.Count(out.String(), "this lock has no watchdog"))
	require.Contains(t, out.String(), "  – this lock has no watchdog: 2 failures\n")
	require.Contains(t, out.String(), "✓ late-unlock")
	require.Contains(t, out.String(), "– not applicable 2")
}

func TestWorkerThatCannotBeGradedIsOneLine(t *testing.T) {
	for line, says := range map[string]string{
		"grade --shared --stop -- worker":          "lockkata: --stop goes with one worker for each process, and not on Windows: leave it out, or leave out --shared\n",
		"grade --has wheels -- worker":             "lockkata: --has \"wheels\": no failure is about that; there are: ",
		"grade --only check-than-delete -- worker": "lockkata: there is no failure \"check-than-delete\"; did you mean check-then-delete?",
	} {
		status, out, errors := command(t, strings.Fields(line)...)
		require.Equal(t, exitBadUsage, status, line)
		require.Empty(t, out)
		require.True(t, strings.HasPrefix(errors, says), errors)
		require.Equal(t, 1, strings.Count(errors, "\n"), errors)
	}
}

// A lock that decides by chance may have one of its outcomes in both runs.
func TestFileWithTwoOutcomesAcceptsEach(t *testing.T) {
	f, _ := catalogue.Find("late-unlock")
	cell := failures.Cell{Verdict: failures.Verdict{Failure: f, Outcome: failures.Safe}}
	card := apart.Card{Cells: []failures.Cell{cell}}
	require.Empty(t, card.Differences("late-unlock: broken or safe\n", nil, i18n.English))
	require.Len(t, card.Differences("late-unlock: broken\n", nil, i18n.English), 1)
	card.Cells[0].Again = "broken"
	require.Empty(t, card.Differences("late-unlock: broken or safe\n", nil, i18n.English))
	require.Len(t, card.Differences("late-unlock: safe\n", nil, i18n.English), 1)
}

func TestLegendHasALineOfCodeOnlyIfThePictureHasOne(t *testing.T) {
	for picture, has := range map[string]bool{"→ SET K A1 NX PX 2000": false, "→ SET K A1 NX PX 2000  mutex.go:31": true} {
		a, out, _ := onTerminal(t, usualWidth)
		a.legend(picture)
		require.Contains(t, out.String(), "║ two are inside")
		require.Equal(t, has, strings.Contains(out.String(), "mutex.go:1"), picture)
	}
}
