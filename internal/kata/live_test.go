//go:build live

package kata

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// The one-line test outside the repository has to find the repository and its
// libraries. It links two programs.
func TestGoTestInAFolderOutsideTheRepositoryAsksTheSame(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "4")
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = f.Dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "✗ check-then-delete")
	require.Contains(t, string(out), "mutex.go:")
}

// A learner's machine: a folder with a space and a letter beyond ASCII in its path,
// inside another module and its workspace, settings for other work, and no network.
func TestCheckWorksWhereverTheFolderIs(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOPROXY", "off")
	outer := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outer, "go.mod"), []byte("module other\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "go.work"), []byte("go 1.26\n\nuse .\n"), 0o600))
	f := Folder{Root: repositoryRoot(t), Dir: filepath.Join(outer, "mein Schloß", "mylock")}
	_, err := f.Start(exercise(t, "3"), false)
	require.NoError(t, err)
	root, err := FindRoot(f.Dir)
	require.NoError(t, err)
	require.Equal(t, f.Root, root)
	r, err := Check(t.Context(), f, i18n.English, nil)
	require.NoError(t, err)
	require.Equal(t, "delete-foreign", r.Report.Red()[0].Failure)

	e := exercise(t, "3")
	elsewhere := filepath.Join(outer, "linked.go")
	require.NoError(t, os.WriteFile(elsewhere, []byte(filesOf(t, e.Solution)["mutex.go"]), 0o600))
	require.NoError(t, os.Remove(f.path("mutex.go")))
	require.NoError(t, os.Symlink(elsewhere, f.path("mutex.go")))
	w := workshop{root: f.Root, ready: program(t)}
	r, err = w.check(t.Context(), f)
	require.NoError(t, err)
	require.True(t, r.Passed, "a link is as good as a file")
	require.Nil(t, w.last, "nothing was compiled")
}

// Who gives each goroutine an object of its own need not share one to be judged.
func TestLockWithAMutexIsJudgedWhereNobodySharesIt(t *testing.T) {
	t.Parallel()
	task := exercise(t, "4").task()
	task.Skip = append(task.Skip, judge.SharedObject)
	for _, h := range hostile {
		if h.kind != judge.HoldsMutex {
			continue
		}
		report, err := program(t).Judge(t.Context(), filesOf(t, Material{Column: "4", Edits: h.edits}), task)
		require.NoError(t, err)
		require.True(t, report.Verdict("second-client").Good)
	}
}

// With every search: what "kata verify" proves.
func TestWholeMaterialProvesItself(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.True(t, proves(t, i18n.English).verify(t.Context(), All, &out), out.String())
}

// From an empty lock to the last step on one growing lock, with the mistakes first.
func TestLearnerClimbsAllSteps(t *testing.T) {
	t.Parallel()
	sitDown(t, "", nil).climbs("6")
}
