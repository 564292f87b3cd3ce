package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	fleet.Serve(work)
	os.Exit(m.Run())
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		`--lease 1ms is too short for processes that share a machine: use 100ms or more`:          {"--lease", "1ms"},
		`there is no argument "60s": all are flags`:                                               {"60s"},
		`there is no lock "stage7": choose one of stage1, stage2, stage3, stage4, stage5, stage6`: {"--lock", "stage7"},
	} {
		_, err := parse(args)
		require.EqualError(t, err, want)
	}
	s, err := parse(nil)
	require.NoError(t, err)
	require.NotZero(t, s.Seed)
	require.Equal(t, time.Minute, s.For)
	again, err := parse([]string{"--seed", "7", "--lock", "stage4"})
	require.NoError(t, err)
	require.Contains(t, again.line, "--lock=stage4")
	require.Contains(t, again.line, "--seed=7")
}
