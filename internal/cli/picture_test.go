package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

//go:generate go test lockkata/internal/cli -run TestPicturesAre|TestFailuresDocument|TestTheatreIs -update

var update = flag.Bool("update", false, "write the pictures, the catalogue of failures and the theatre into the documents")

const pictures = "../../docs/pictures"

// The pictures in the documents are what the command draws, and there are no others.
func TestPicturesAreWhatTheCommandDraws(t *testing.T) {
	want := map[string]string{}
	for _, f := range failures.All {
		for _, s := range pictured(f) {
			status, out, errors := command(t, "show", f.ID, "--stage", fmt.Sprint(s.Number), "--svg")
			require.Equal(t, exitOK, status, errors)
			want[fmt.Sprintf("%s-%d.svg", f.ID, s.Number)] = out
		}
	}
	names, err := filepath.Glob(pictures + "/*.svg")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.MkdirAll(pictures, 0o755))
		for _, name := range names {
			require.NoError(t, os.Remove(name))
		}
		for name, text := range want {
			require.NoError(t, os.WriteFile(filepath.Join(pictures, name), []byte(text), 0o644))
		}
		return
	}
	require.Len(t, names, len(want), "out of date: go generate ./...")
	for name, text := range want {
		raw, err := os.ReadFile(filepath.Join(pictures, name))
		require.NoError(t, err)
		require.Equal(t, text, string(raw), "%s is out of date: go generate ./...", name)
	}
}

func TestPicturesShowTheLastBrokenStageAndTheFirstSafeOne(t *testing.T) {
	for id, want := range map[string][]int{
		"delete-foreign": {2, 3},
		"process-pause":  {6}, // no stage prevents it
		"wake-lost":      {6}, // no stage before has waiters that listen
		"second-client":  {1}, // no stage is broken
	} {
		f, ok := failures.Find(id)
		require.True(t, ok, id)
		var numbers []int
		for _, s := range pictured(f) {
			numbers = append(numbers, s.Number)
		}
		require.Equal(t, want, numbers, id)
	}
}

func TestShowDrawsOneRunInOneWay(t *testing.T) {
	for _, args := range [][]string{
		{"--svg", "--json"}, {"--svg", "--before-after"}, {"--svg", "--stage", "1"},
	} {
		id := "delete-foreign"
		if args[1] == "--stage" {
			id = "wake-lost" // stage 1 has no waiters that listen: there is nothing to draw
		}
		status, out, errors := command(t, append([]string{"show", id}, args...)...)
		require.Equal(t, exitBadUsage, status, args)
		require.Empty(t, out)
		require.NotEmpty(t, errors)
	}
}
