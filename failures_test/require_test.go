package failures_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
)

// The child process of the test below.
func TestRequired(t *testing.T) {
	names := os.Getenv("LOCKKATA_REQUIRED")
	if names == "" {
		t.Skip("the test below runs it")
	}
	failures.Require(t, stages.MustFind("3").Subject, strings.Fields(names)...)
}

func TestRequireFailsForNamedFailures(t *testing.T) {
	require3 := func(names string) string {
		child := exec.Command(os.Args[0], "-test.v", "-test.run=^TestRequired$")
		child.Env = append(os.Environ(), "LOCKKATA_REQUIRED="+names)
		out, _ := child.CombinedOutput() // it fails where a lock does
		return string(out)
	}
	said := require3("second-client check-then-delete renew-blip")
	require.Contains(t, said, "--- PASS: TestRequired/second-client")
	require.Contains(t, said, "--- FAIL: TestRequired/check-then-delete")
	require.Contains(t, said, "--- SKIP: TestRequired/renew-blip")
	require.Contains(t, said, "renew-blip: not applicable: this lock has no watchdog")
	require.Contains(t, said, "DEL K", "the timeline of the failing subtest")
	require.NotContains(t, said, "TestRequired/delete-foreign")
	require.Contains(t, require3("second-client"), "--- PASS: TestRequired ")
	require.Contains(t, require3("no-such"), "there is no failure no-such")
}
