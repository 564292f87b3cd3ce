package kata

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	_, err := f.Start(3)
	require.NoError(t, err)
	root, err := FindRoot(f.Dir)
	require.NoError(t, err)
	require.Equal(t, f.Root, root)
	r, err := Check(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, "delete-foreign", r.Report.Red()[0].Failure)

	e, _ := Find(3)
	solution, err := e.Solution.Files(os.DirFS(root))
	require.NoError(t, err)
	elsewhere := filepath.Join(outer, "linked.go")
	require.NoError(t, os.WriteFile(elsewhere, []byte(solution["mutex.go"]), 0o600))
	require.NoError(t, os.Remove(filepath.Join(f.Dir, "mutex.go")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(f.Dir, "mutex.go")))
	r, err = Check(t.Context(), f)
	require.NoError(t, err)
	require.True(t, r.Passed, "a link is as good as a file")
}

func TestFileThatIsNoLockIsToldSoInALine(t *testing.T) {
	f := newFolder(t, 4)
	name := filepath.Join(f.Dir, "mutex.go")
	for _, c := range []struct{ text, says string }{
		{"", "mutex.go:1: expected 'package', found 'EOF'"},
		{"package mylock\n\nvar x = \"\xff\xfe\"\n", "mutex.go:3: illegal UTF-8 encoding"},
		{"package mylock\x00", "mutex.go:1: illegal character NUL"},
		{"package mylock\n" + strings.Repeat("// 16 characters\n", 1<<17), "mutex.go:1: the file has 2 MB: a lock has some kilobytes, so this is none"},
	} {
		f.write(t, "mutex.go", c.text)
		r, err := Check(t.Context(), f)
		require.NoError(t, err)
		require.NotNil(t, r.Report.Compile)
		require.Equal(t, c.says, r.Report.Compile.Error())
	}
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.Mkdir(name, 0o700))
	r, err := Check(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, "there is no Go file: kata reset brings the start back", r.Report.Compile.Error())
}

func TestRefusalOfTheSystemComesWithWhatToDo(t *testing.T) {
	for _, said := range []error{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		err := mayNot(&fs.PathError{Op: "open", Path: "/a/mutex.go", Err: said})
		require.ErrorIs(t, err, said)
		require.Contains(t, err.Error(), "open /a/mutex.go: "+said.Error()+": take the right to read and write there, or choose another folder with --dir")
	}
	require.Equal(t, fs.ErrNotExist, mayNot(fs.ErrNotExist))
	require.Equal(t, 1, strings.Count(mayNot(mayNot(fs.ErrPermission)).Error(), "--dir"), "said once")
}

func TestInterruptedCheckLeavesNothingBehind(t *testing.T) {
	f := newFolder(t, 4)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, after := range []time.Duration{0, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err := Check(ctx, f)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		left, err := filepath.Glob(filepath.Join(temporary, "lockkata-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// Two loops on one folder: what one of them saves while the other one checks stays.
func TestPassKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	f := newFolder(t, 3)
	e, _ := Find(3)
	m := materialsOf(t)
	solution, err := e.Solution.Files(os.DirFS(m.root))
	require.NoError(t, err)
	require.NoError(t, writeFiles(f.Dir, solution))
	before := Result{Exercise: e, Progress: Progress{Exercise: 3}, Passed: true}
	require.NoError(t, f.save(Progress{Exercise: 4, Hints: map[int]int{3: 2}}))
	require.NoError(t, f.remember(&before, solution))
	now, err := f.Progress()
	require.NoError(t, err)
	require.Equal(t, Progress{Exercise: 4, Passed: []int{3}, Hints: map[int]int{3: 2}}, now)
}
