package kata

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// newFolder is a learner's folder in which this exercise was started.
func newFolder(t *testing.T, number int) Folder {
	t.Helper()
	f := Folder{Root: repositoryRoot(t), Dir: filepath.Join(t.TempDir(), "mylock")}
	_, err := f.Start(number)
	require.NoError(t, err)
	return f
}

func (f Folder) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o600))
}

func TestStartBeginsWithTheLearnersOwnPassedLock(t *testing.T) {
	f := newFolder(t, 2)
	own := Files{"mutex.go": "package mylock // mine\n"}
	require.NoError(t, f.put("_passed/02", own))
	require.NoError(t, f.save(Progress{Exercise: 2, Passed: []int{2}}))
	said, err := f.Start(3)
	require.NoError(t, err)
	require.Contains(t, said, "your own lock of exercise 2")
	now, err := f.Lock()
	require.NoError(t, err)
	require.Equal(t, own, now)
}

func TestNothingThatTheLearnerWroteIsLost(t *testing.T) {
	f := newFolder(t, 1)
	f.write(t, "mutex.go", "package mylock // first\n")
	f.write(t, "extra.go", "package mylock // second\n")
	f.write(t, "notes.txt", "a note\n")
	f.write(t, "lock_test.go", "package mylock // my own test\n")
	said, err := f.Start(3)
	require.NoError(t, err)
	require.Contains(t, said, "What was there is in _copies/001.")
	copied, err := f.lock("_copies/001")
	require.NoError(t, err)
	require.Equal(t, Files{"mutex.go": "package mylock // first\n", "extra.go": "package mylock // second\n"}, copied)
	require.NoFileExists(t, filepath.Join(f.Dir, "extra.go"))
	for name, text := range map[string]string{"notes.txt": "a note\n", "lock_test.go": "package mylock // my own test\n"} {
		raw, err := os.ReadFile(filepath.Join(f.Dir, name))
		require.NoError(t, err)
		require.Equal(t, text, string(raw))
	}

	f.write(t, "mutex.go", "package mylock // third\n")
	said, err = f.Reset(false)
	require.NoError(t, err)
	require.Contains(t, said, "_copies/002")
	require.NoError(t, f.put("_passed/03", Files{"mutex.go": "package mylock // passed\n"}))
	said, err = f.Reset(true)
	require.NoError(t, err)
	require.Contains(t, said, "What had passed is in _copies/003.")
	require.FileExists(t, filepath.Join(f.Dir, "_copies", "003", "_passed", "03", "mutex.go"))
}

func TestResetBringsTheStartBack(t *testing.T) {
	f := newFolder(t, 12)
	before, err := f.Lock()
	require.NoError(t, err)
	f.write(t, "mutex.go", "package mylock\n")
	_, err = f.Reset(false)
	require.NoError(t, err)
	now, err := f.Lock()
	require.NoError(t, err)
	require.Equal(t, before, now)
	require.Contains(t, now["mutex.go"], `"EX", m.ttl.Milliseconds()`)
}

func TestFolderWithSomebodyElsesFilesIsRefused(t *testing.T) {
	f := Folder{Root: repositoryRoot(t), Dir: t.TempDir()}
	f.write(t, "mutex.go", "package other\n")
	_, err := f.Start(1)
	require.ErrorContains(t, err, "holds other files and no progress.txt: choose a new folder")
	raw, err := os.ReadFile(filepath.Join(f.Dir, "mutex.go"))
	require.NoError(t, err)
	require.Equal(t, "package other\n", string(raw))
}

func TestProgressIsAPlainFileAndReadBack(t *testing.T) {
	p := Progress{Exercise: 4, Passed: []int{1, 3}, Hints: map[int]int{4: 2}}
	require.Equal(t, progressHead+"exercise 4\npassed 1\npassed 3\nhints 4 2\n", p.String())
	again, err := parseProgress(p.String())
	require.NoError(t, err)
	require.Equal(t, p, again)
	require.Equal(t, 2, p.Next())
	for text, says := range map[string]string{
		"passed 99\n":  `line 1 of progress.txt names no exercise: "passed 99"; delete the line, or put it right`,
		"\npasst 3\n":  `line 2 of progress.txt says nothing: "passt 3"; delete the line, or put it right`,
		"hints 3 4\n":  `line 1 of progress.txt says nothing: "hints 3 4"; delete the line, or put it right`,
		"exercise x\n": `line 1 of progress.txt names no exercise: "exercise x"; delete the line, or put it right`,
	} {
		_, err := parseProgress(text)
		require.EqualError(t, err, says)
	}
}

func TestHintsComeOneByOneAndTheLastStays(t *testing.T) {
	f := newFolder(t, 4)
	for _, want := range []string{"Hint 1 of 3:", "Hint 2 of 3:", "Hint 3 of 3:", "Hint 3 of 3:"} {
		text, err := f.Hint(View{Width: 100})
		require.NoError(t, err)
		require.Contains(t, text, want)
	}
}
