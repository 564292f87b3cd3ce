//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/redisserver"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	fleet.Serve(runWorker)
	os.Exit(m.Run())
}

// play soaks a lock for some seconds.
func play(t *testing.T, args ...string) map[violationKind]int {
	t.Helper()
	if testing.Short() {
		t.Skip("a soak takes seconds")
	}
	s, err := parse(append([]string{"--for", "6s", "--lease", "500ms"}, args...))
	require.NoError(t, err)
	r, err := soak(t.Context(), s)
	if errors.Is(err, redisserver.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	fmt.Fprintln(t.Output(), s)
	fmt.Fprint(t.Output(), r)
	require.Positive(t, r.counts[freed], "nobody did anything")
	require.NotEmpty(t, r.faults)
	found := map[violationKind]int{}
	for _, v := range r.violations {
		found[v.kind]++
	}
	return found
}

func TestFinalLockKeepsItsWord(t *testing.T) {
	require.Empty(t, play(t))
}

func TestFinalLockKeepsItsWordOnAServerThatForgets(t *testing.T) {
	require.Empty(t, play(t, "--restart", "lossy"))
}

func TestStage4IsConvicted(t *testing.T) {
	found := play(t, "--lock", "stage4")
	require.Positive(t, found[overlap])
	require.Positive(t, found[lostUpdate])
	require.Positive(t, found[nonLinearizable])
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		`--lease 1ms is too short for processes that share a machine: use 100ms or more`: {"--lease", "1ms"},
		`--restart "never": choose durable or lossy`:                                     {"--restart", "never"},
		`there is no argument "60s": all are flags`:                                      {"60s"},
	} {
		_, err := parse(args)
		require.EqualError(t, err, want)
	}
	_, err := parse([]string{"--lock", "stage7"})
	require.ErrorContains(t, err, `there is no lock "stage7"`)
	s, err := parse(nil)
	require.NoError(t, err)
	require.NotZero(t, s.Seed)
	require.Equal(t, time.Minute, s.For)
}
