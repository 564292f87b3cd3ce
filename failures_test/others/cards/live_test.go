//go:build live

package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/redisserver"
)

func TestRueidislocksCardsAndDefectsAreWhatIsSaidOfThem(t *testing.T) {
	require.NoError(t, withExaminer(t, func(e *examiner) error {
		redisserver.Need(t, e.without)
		cards, err := e.examine(rueidislockLibrary, failures.All...)
		require.NoError(t, err)
		for _, c := range cards {
			if errors.Is(c.verdict.Err, live.ErrBusy) {
				fmt.Fprintln(t.Output(), c.failure.ID, c.note)
			}
		}
		require.NoError(t, surprises(cards))
		requireRed(t, e, rueidislockLibrary, "rueidislock:0:order:1001")
		tryDefects(t, e, true)
		return nil
	}))
}
