package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/stages"
)

func TestDemoLetsTheSecondBeginWhenTheFirstEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	line := regexp.MustCompile(`(?m)^(\d\S+ \S+)  (work\d +\w+)`)
	for _, s := range stages.Public() {
		status, out, errors := command(t, "demo", "--stage", s.ID, "--hold", "0s", "--name", "work2")
		require.Equal(t, exitOK, status, errors)
		at := map[string]time.Time{}
		for _, said := range line.FindAllStringSubmatch(out, -1) {
			when, err := time.Parse(timestamp, said[1])
			require.NoError(t, err)
			at[said[2]] = when
		}
		require.Len(t, at, 8, out)
		require.False(t, at["work1  got"].Before(at["work2  ends"]), out)
		require.Regexp(t, `\nA waiter on stage \d (asks every 100 ms|is woken by a message)\.\n$`, out)
	}
}

func TestDemoReportsAFailedUnlock(t *testing.T) {
	server := miniredis.RunT(t)
	address := server.Addr()
	out, errors := &stopper{at: "got it", stop: server.Close}, &strings.Builder{}
	status := Run(t, nil, nil, out, errors, "demo", "--redis", address, "--stage", "4", "--hold", "0s")
	require.Equal(t, exitFailed, status, errors.String())
	require.NotContains(t, out.String(), "unlocked")
	require.Contains(t, out.String(), "In another terminal: go run . demo --stage 4 --name work2 --hold 0s --redis "+address+"\n")
	require.Contains(t, errors.String(), "work1: stage4: unlock lock:userId: ")
}
