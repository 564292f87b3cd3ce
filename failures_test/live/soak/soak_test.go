//go:build live

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// play soaks a lock for some seconds.
func play(t *testing.T, args ...string) map[string]int {
	t.Helper()
	s, err := parse(append([]string{"--for", "6s", "--lease", "500ms"}, args...))
	require.NoError(t, err)
	r, err := soak(t.Context(), s)
	redisserver.Need(t, err)
	fmt.Fprintln(t.Output(), s.line, r.report())
	require.Positive(t, r.counts[freed], "nobody did anything")
	require.NotEmpty(t, r.faults)
	found := map[string]int{}
	for _, v := range r.violations {
		found[v.kind]++
	}
	return found
}

func TestFinalLockKeepsItsWord(t *testing.T) {
	require.Empty(t, play(t))
}

func TestFinalLockKeepsItsWordOnAServerThatForgets(t *testing.T) {
	require.Empty(t, play(t, "--lossy"))
}

// Six seconds on a busy machine may show one kind of damage and not the others.
func TestStage4IsConvicted(t *testing.T) {
	found := map[string]int{}
	for range 10 {
		for kind, n := range play(t, "--lock", "stage4") {
			found[kind] += n
		}
		if found[overlap] > 0 && found[lostUpdate] > 0 && found[nonLinearizable] > 0 {
			return
		}
	}
	require.Fail(t, "stage 4 is not convicted of all three", "%v", found)
}
