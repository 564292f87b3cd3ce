package cli

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

// fewFailures makes the catalogue short for a test that runs in real time.
func fewFailures(t *testing.T, ids ...string) {
	t.Helper()
	all := failures.All
	t.Cleanup(func() { failures.All = all })
	failures.All = nil
	for _, f := range all {
		for _, id := range ids {
			if f.ID == id {
				failures.All = append(failures.All, f)
			}
		}
	}
	require.Len(t, failures.All, len(ids))
}

func TestLiveMatrixOnServersOfItsOwn(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	fewFailures(t, "second-client", "script-flush", "clock-jump")
	status, out, errors := command(t, "--live")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "on real redis-server processes")
	require.Regexp(t, `(?m)^  second-client +✓  ✓  ✓  ✓`, out)
	require.Regexp(t, `(?m)^  clock-jump +·  ·  ·  ·`, out)
	require.Contains(t, out, "world only")
}

func TestLiveWithoutARedisIsOneLineWithTheRemedy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := listener.Addr().String()
	require.NoError(t, listener.Close())
	t.Setenv("PATH", t.TempDir())
	for says, args := range map[string][]string{
		"there is no redis-server: install one":          {"--live"},
		"no Redis that could be used at " + nobody:       {"--live", "--redis", nobody},
		"leave out --redis and lockkata starts its own":  {"--live", "--redis", nobody},
		"--redis names the Redis for --live: add --live": {"--redis", nobody},
	} {
		status, out, errors := command(t, args...)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, says)
		require.Equal(t, 1, strings.Count(errors, "\n"))
		require.Empty(t, out)
	}
}

func TestListSaysWhereAFailureRuns(t *testing.T) {
	fewFailures(t, "second-client", "clock-jump")
	_, out, _ := command(t, "list")
	require.Contains(t, out, "Runs in: world and live")
	require.Contains(t, out, "Runs in: world: a real Redis reads the clock")
}
