package apart

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
)

func TestCardOfSomeFailuresIsComparedWithTheirLines(t *testing.T) {
	f, _ := catalogue.Find("late-unlock")
	var card Card
	card.Cells = []failures.Cell{{Verdict: failures.Verdict{Failure: f, Outcome: failures.Safe}}}
	file := "late-unlock: safe\ncheck-then-delete: safe\n"
	require.Empty(t, card.Differences(file, []string{"late-unlock"}, i18n.English))
	require.Len(t, card.Differences(file, []string{"late-unlock", "check-then-delete"}, i18n.English), 1)
	require.Len(t, card.Differences(file, nil, i18n.English), 1)
	require.Len(t, card.Differences("late-unlock: broken\n", []string{"late-unlock"}, i18n.English), 1)
}
