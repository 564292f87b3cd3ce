//go:build live

package cli

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiveMatrixOnServersOfItsOwn(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	fewFailures(t, "second-client", "script-flush", "clock-jump")
	status, out, errors := command(t, "--live", "--all")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "on real redis-server processes")
	require.Regexp(t, `(?m)^  second-client +✓  ✓  ✓  ✓`, out)
	require.Regexp(t, `(?m)^  clock-jump +·  ·  ·  ·`, out)
	require.Contains(t, out, "world only")
	require.Contains(t, out, "\nNot played here:\n  clock-jump: a real Redis reads the clock of its machine")
}
