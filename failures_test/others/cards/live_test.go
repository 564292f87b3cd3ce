//go:build live

package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/oracle"
)

// isOvertaken tells whether another process was faster than a waiter by chance, in a failure
// that is not about that. The waiter woke in vain, and waits behind the others again.
func isOvertaken(c card) bool {
	against, found := c.verdict.Against()
	return found && against.Monitor == oracle.BoundedWait && !slices.Contains(c.failure.Breaks, oracle.BoundedWait)
}

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
		require.NoError(t, surprises(slices.DeleteFunc(cards, isOvertaken)))
		requireRed(t, e, rueidislockLibrary, "rueidislock:0:order:1001")
		tryDefects(t, e, true)
		return nil
	}))
}
