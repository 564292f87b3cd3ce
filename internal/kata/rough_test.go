package kata

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

func TestFileThatIsNoLockIsToldSoInALine(t *testing.T) {
	f := newFolder(t, "4")
	name := filepath.Join(f.Dir, "mutex.go")
	for _, c := range []struct{ text, says string }{
		{"", "mutex.go:1: expected 'package', found 'EOF'"},
		{"package mylock\n\nvar x = \"\xff\xfe\"\n", "mutex.go:3: illegal UTF-8 encoding"},
		{"package mylock\x00", "mutex.go:1: illegal character NUL"},
		{"package mylock\n" + strings.Repeat("// 16 characters\n", 1<<17), "mutex.go:1: the file has 2 MB: a lock has some kilobytes, so this is no lock"},
	} {
		f.write(t, "mutex.go", c.text)
		r, err := Check(t.Context(), f, i18n.English, nil)
		require.NoError(t, err)
		require.NotNil(t, r.Report.Compile)
		require.Equal(t, c.says, r.Report.Compile.Error())
	}
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.Mkdir(name, 0o700))
	r, err := Check(t.Context(), f, i18n.English, nil)
	require.NoError(t, err)
	require.Equal(t, "there is no Go file: kata reset brings the start back", r.Report.Compile.Error())
}

func TestRefusalOfTheSystemComesWithWhatToDo(t *testing.T) {
	for _, said := range []error{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		err := mayNot(&fs.PathError{Op: "open", Path: "/a/mutex.go", Err: said})
		require.ErrorIs(t, err, said)
		require.Contains(t, err.Error(), "open /a/mutex.go: "+said.Error()+": fix its permissions, or choose another folder with --dir")
	}
	require.Equal(t, fs.ErrNotExist, mayNot(fs.ErrNotExist))
}

func TestInterruptedCheckLeavesNothingBehind(t *testing.T) {
	f := newFolder(t, "4")
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	left := func() []string {
		found, err := filepath.Glob(filepath.Join(temporary, "lockkata-*"))
		require.NoError(t, err)
		return found
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Check(ctx, f, i18n.English, nil)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(left()) > 0 }, patience, time.Millisecond, "it begins to compile")
	interrupt()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Empty(t, left())
	_, err := Check(ctx, f, i18n.English, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, left())
}

// Two loops on one folder: what one of them saves while the other one checks stays.
func TestPassKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	f := newFolder(t, "3")
	require.NoError(t, f.save(Progress{Exercise: "4", Hints: map[string]int{"3": 2}}))
	lock, err := f.Lock()
	require.NoError(t, err)
	require.NoError(t, f.remember("3", lock))
	now, err := f.Progress()
	require.NoError(t, err)
	require.Equal(t, Progress{Exercise: "4", Passed: []string{"3"}, Hints: map[string]int{"3": 2}}, now)
	kept, err := f.lock(passed("3"))
	require.NoError(t, err)
	require.Equal(t, lock, kept)
}

// oddLock is a lock in scripts.go, beside a script that nobody embeds.
func oddLock(healthy Files) Files {
	return Files{"scripts.go": healthy["mutex.go"], "notes.lua": "-- nobody embeds this"}
}

// A learner's folder may hold whatever his editor, his tools and his curiosity leave there.
func TestFilesThatAreNoLockDoNoHarm(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "4")
	e := exercise(t, "4")
	require.NoError(t, os.Remove(f.path("mutex.go")))
	require.NoError(t, writeFiles(f.Dir, oddLock(solutionOf(t, e))))
	for name, text := range map[string]string{
		"try.go": "//go:build ignore\n\npackage main\n\nfunc main() { x = }\n", "other_plan9.go": "package other\n", "_old.go": "package old\n",
		".#mutex.go": "x", "mutex.go~": "x", "README.md": "# Mine\n", "mutex_test.go": "package mylock\n\nfunc {\n", "prog": "\x7fELF",
	} {
		f.write(t, name, text)
	}
	require.NoError(t, os.Mkdir(f.path("main.go"), 0o700))
	w := workshop{root: f.Root, ready: program(t)}
	r, err := w.check(t.Context(), f)
	require.NoError(t, err)
	require.True(t, r.Passed, "%+v", r.Report.Cause)
	require.Nil(t, w.last, "nothing but the lock was read")
	trace := r.Report.Verdict(e.Predict.Failure).Trace
	sent := slices.IndexFunc(trace.Events, func(e world.Event) bool { return e.Kind == world.Sent })
	require.Regexp(t, `/scripts\.go:\d+$`, trace.Events[sent].Source.String())
}
