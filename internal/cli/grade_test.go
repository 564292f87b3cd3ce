package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
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
