//go:build live

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// kata check does not use the test in the learner's folder.
func TestKataCheckIgnoresTheTestInTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mylock")
	status, _, errors := command(t, "kata", "start", "3", "--dir", dir)
	require.Equal(t, exitOK, status, errors)
	test := filepath.Join(dir, "mylock_test.go")
	check := func() string {
		status, out, _ := command(t, "kata", "check", "--dir", dir)
		require.Equal(t, exitFailed, status)
		return out
	}
	want := check()
	require.Contains(t, want, "✗ wrong delete: A's DEL removes the lock of B (B1)\n")
	require.NoError(t, os.Remove(test))
	require.Equal(t, want, check(), "deleted")
	for _, edited := range []string{
		"package mylock\n\nimport \"testing\"\n\nfunc TestMyLock(t *testing.T) {}\n",
		"package mylock\n\nfunc NewMutex() {}\n",
		"package other\n\nfunc {\n",
	} {
		require.NoError(t, os.WriteFile(test, []byte(edited), 0o600))
		require.Equal(t, want, check(), edited)
	}
}
