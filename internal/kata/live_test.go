//go:build live

package kata

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

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
	require.NoError(t, os.WriteFile(elsewhere, []byte(solutionOf(t, e)["mutex.go"]), 0o600))
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

// From an empty lock to the last step on one growing lock: at each exercise one that is
// wrong first; in the middle the learner leaves, does something else, and comes back.
func TestScriptedLearnerClimbsTheStairs(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "1", nil)
	for e := exercise(t, "1"); e.ID != "6"; e, _ = e.next() {
		l.sees("exercise "+e.ID+": ", bar)
		at := slices.IndexFunc(wrong, func(w wrongLock) bool { return w.exercise == e.ID })
		says := "BROKEN: "
		if wrong[at].failure == "" {
			says = "✗ your lock "
		}
		l.savesFiles(e.withSubject(filesOf(t, Material{Column: e.ID, Edits: wrong[at].edits})), wrong[at].name)
		l.sees(says, bar)
		if e.ID == "6.2" {
			l = l.returnsAfter("r1")
			l.sees(says, bar)
		}
		l.savesFiles(solutionOf(t, e), "a right one")
		l.sees("✓ passed: it survives all ", answers)
		l.presses("0")
		l.sees(bar)
		l.presses("n")
		l.sees("It begins with your own lock of exercise " + e.ID + ".")
	}
	l.leaves()
	p, err := l.folder.Progress()
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6.1", "6.2", "6.3", "6.4", "6.5"}, p.Passed)
	require.Equal(t, "6", p.Exercise)
}

// returnsAfter leaves, begins another exercise, and goes on with the one before.
func (l *learner) returnsAfter(other string) *learner {
	l.t.Helper()
	l.leaves()
	e, _, err := l.folder.present()
	require.NoError(l.t, err)
	requireStart(l.t, l.folder, other, false, "It begins with")
	requireStart(l.t, l.folder, e.ID, false, "It goes on where you left it")
	return sitDownAt(l.t, l.folder, nil)
}

func TestGoTestPlaysTheFailuresOfEveryExercise(t *testing.T) {
	for _, e := range All {
		t.Run(e.ID, func(t *testing.T) { provesByGoTest(t, e) })
	}
}
