//go:build live

package cli

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An adapter is in a module that requires this repository, where it is.
func TestGradeOfASubjectWithRequireAndReplace(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := module(t, "", "", map[string]string{
		"go.mod": modFile(fmt.Sprintf("require lockkata v0.0.0\n\nreplace lockkata => %q\n", root)),
		"lock/subject.go": `package lock

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
)

func Subject() failures.Subject {
	return failures.Subject{Name: "shop", New: adapt.Plain(NewMutex), Has: []failures.Feature{failures.Scripts}}
}
`,
	})
	status, out, errors := command(t, "grade", filepath.Join(dir, "lock"))
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "✓ script-flush")
}

// A lock that ruins its run is told which of its lines does so.
func TestGradeNamesTheLineThatRuinsARun(t *testing.T) {
	dir := module(t, attempt, attempt+"	for value != \"\" {\n	}\n", map[string]string{"go.mod": modFile("")})
	status, out, errors := command(t, "grade", filepath.Join(dir, "lock"))
	require.Equal(t, exitFailed, status, errors)
	require.Regexp(t, `it loops without end, in an ordinary day: TryLock runs without end at mutex\.go:\d+`, out)
}
