package folder

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
)

// repositoryRoot is the module's folder.
var repositoryRoot, _ = filepath.Abs("../../..")

// exercise returns the exercise with that ID.
func exercise(t *testing.T, id string) exercises.Exercise {
	t.Helper()
	e, err := exercises.Find(id)
	require.NoError(t, err)
	return e
}

// newFolder returns a learner's folder in which this exercise was started.
func newFolder(t *testing.T, id string) Folder {
	t.Helper()
	f := Folder{Root: repositoryRoot, Dir: filepath.Join(t.TempDir(), "mylock")}
	_, err := f.Start(exercise(t, id), false)
	require.NoError(t, err)
	return f
}

func (f Folder) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o600))
}

// requireStart starts an exercise, and requires a text in the returned sentence.
func requireStart(t *testing.T, f Folder, id string, afresh bool, says string) {
	t.Helper()
	message, err := f.Start(exercise(t, id), afresh)
	require.NoError(t, err)
	require.Contains(t, message.Error(), says)
}

// requireLock requires this lock in the folder or in a subfolder.
func requireLock(t *testing.T, f Folder, below, text string) {
	t.Helper()
	files, err := f.lock(below)
	require.NoError(t, err)
	require.Equal(t, apart.Files{"mutex.go": text}, files)
}

func TestStartWritesItsCommentsInTheLearnersLanguage(t *testing.T) {
	english := regexp.MustCompile(`//.*[a-z]+ [a-z]+ [a-z]+|yours`)
	for _, language := range i18n.Languages {
		for _, file := range []struct{ id, name string }{{"1", "mutex.go"}, {"1", testName}, {"6.1", "subject.go"}} {
			f := Folder{Root: repositoryRoot, Dir: filepath.Join(t.TempDir(), "mylock"), Language: language}
			requireStart(t, f, file.id, false, "It begins with")
			raw, err := os.ReadFile(f.path(file.name))
			require.NoError(t, err)
			found := english.MatchString(strings.ReplaceAll(string(raw), "go run . kata check", ""))
			require.Equal(t, language == i18n.English, found, "%s", raw)
		}
	}
}

func TestStartBeginsWithTheLearnersOwnPassedLock(t *testing.T) {
	f := newFolder(t, "3")
	own := apart.Files{"mutex.go": "package mylock // mine\n"}
	require.NoError(t, f.put(passed("3"), own))
	require.NoError(t, f.Save(Progress{Exercise: "3", Passed: []string{"3"}}))
	requireStart(t, f, "4", false, "your own lock of exercise 3")
	requireLock(t, f, ".", own["mutex.go"])
	requireStart(t, f, "6.4", false, "It begins with the lock of stage 6.3.")
}

// An exercise is resumed after any other; with afresh it begins again, and the old lock is kept.
func TestExerciseGoesOnWhereItWasLeft(t *testing.T) {
	f := newFolder(t, "3")
	requireStart(t, f, "3", false, "It begins with the lock of stage 2.")
	f.write(t, "mutex.go", "package mylock // half of 3\n")
	requireStart(t, f, "3", false, "It continues where you left it")
	requireStart(t, f, "6.2", false, "It begins with the lock of stage 6.1.")
	require.FileExists(t, f.path("hold.go"))
	f.write(t, "hold.go", "package mylock // half of 6.2\n")
	requireStart(t, f, "3", false, "It continues where you left it")
	requireLock(t, f, ".", "package mylock // half of 3\n")
	requireStart(t, f, "6.2", false, "It continues where you left it")
	now, err := f.Lock()
	require.NoError(t, err)
	require.Equal(t, "package mylock // half of 6.2\n", now["hold.go"])
	start, err := f.Begun("6.2")
	require.NoError(t, err)
	require.NotEqual(t, start["hold.go"], now["hold.go"], "what it began with is kept too")

	require.NoError(t, f.put(passed("2"), apart.Files{"mutex.go": "package mylock // my 2\n"}))
	p, err := f.Progress()
	require.NoError(t, err)
	p.pass("2")
	require.NoError(t, f.Save(p))
	requireStart(t, f, "3", true, "It begins with your own lock of exercise 2. What you wrote is in _copies/001.")
	requireLock(t, f, ".", "package mylock // my 2\n")
	requireLock(t, f, "_copies/001", "package mylock // half of 3\n")
}

func TestNothingThatTheLearnerWroteIsLost(t *testing.T) {
	f := newFolder(t, "1")
	f.write(t, "mutex.go", "package mylock // first\n")
	f.write(t, "extra.go", "//go:build never\n\npackage mylock // second\n")
	f.write(t, "notes.txt", "a note\n")
	f.write(t, "other_test.go", "package mylock // my own test\n")
	requireStart(t, f, "3", false, "")
	kept, err := f.lock(left("1"))
	require.NoError(t, err)
	require.Equal(t, apart.Files{"mutex.go": "package mylock // first\n", "extra.go": "//go:build never\n\npackage mylock // second\n"}, kept)
	require.NoFileExists(t, filepath.Join(f.Dir, "extra.go"))
	for name, text := range map[string]string{"notes.txt": "a note\n", "other_test.go": "package mylock // my own test\n"} {
		raw, err := os.ReadFile(filepath.Join(f.Dir, name))
		require.NoError(t, err)
		require.Equal(t, text, string(raw))
	}

	f.write(t, "mutex.go", "package mylock // third\n")
	message, err := f.Reset(false)
	require.NoError(t, err)
	require.Contains(t, message.Error(), "What you wrote is in _copies/001.")
	requireLock(t, f, "_copies/001", "package mylock // third\n")
	f.write(t, "mutex.go", "package mylock // fourth\n")
	require.NoError(t, f.put(passed("3"), apart.Files{"mutex.go": "package mylock // passed\n"}))
	message, err = f.Reset(true)
	require.NoError(t, err)
	require.Contains(t, message.Error(), "What there was is in _copies/002.")
	requireLock(t, f, "_copies/002/_passed/3", "package mylock // passed\n")
	requireLock(t, f, "_copies/002/_left/3", "package mylock // fourth\n")
	p, err := f.Progress()
	require.NoError(t, err)
	require.Equal(t, Progress{Exercise: "1", Hints: map[string]int{}}, p)

	require.NoError(t, f.Save(Progress{})) // the learner deleted the line with the exercise
	f.write(t, "mutex.go", "package mylock // fifth\n")
	f.Flag = " --dir here"
	requireStart(t, f, "2", false, "It begins with the lock of stage 1. progress.txt named no exercise, so the lock that was here is in "+
		"_copies/003. To go on with that one, start its exercise with go run . kata start N --dir here, and copy the files back.")
	requireLock(t, f, "_copies/003", "package mylock // fifth\n")
}

func TestResetBringsTheStartBack(t *testing.T) {
	f := newFolder(t, "r1")
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

func TestFolderWithOtherFilesIsRefused(t *testing.T) {
	f := Folder{Root: repositoryRoot, Dir: t.TempDir()}
	f.write(t, "mutex.go", "package other\n")
	_, err := f.Start(exercise(t, "1"), false)
	require.ErrorContains(t, err, "holds other files and no progress.txt: choose a new folder; if they are your lock, write a progress.txt")
	raw, err := os.ReadFile(filepath.Join(f.Dir, "mutex.go"))
	require.NoError(t, err)
	require.Equal(t, "package other\n", string(raw))
	f.write(t, progressName, "exercise 1\n")
	requireStart(t, f, "1", false, "It continues where you left it")
	requireLock(t, f, ".", "package other\n")
}

func TestFolderOutsideMayHaveTheNameOfOneInTheRepository(t *testing.T) {
	f := newFolder(t, "1")
	list, err := edits.Overlay(t.TempDir(), f.Root, apart.Files{"mylock/mutex.go": "package mylock\n"})
	require.NoError(t, err)
	said, err := apart.GoCommand(t.Context(), f.Dir, "list", "-overlay", list, ".").CombinedOutput()
	require.NoError(t, err, string(said))
}

func TestProgressIsAPlainFileAndReadBack(t *testing.T) {
	p := Progress{Exercise: "6.1", Passed: []string{"1", "3"}, Hints: map[string]int{"6.1": 2}, Failed: "key-gone", Hinted: "oom"}
	require.Equal(t, progressHead+"exercise 6.1\npassed 1\npassed 3\nhints 6.1 2\nfailed key-gone\nhinted oom\n", p.String())
	again, err := parseProgress(p.String())
	require.NoError(t, err)
	require.Equal(t, p, again)
	require.Equal(t, "6.1", p.Next().ID, "it is under way")
	again.pass("6.1")
	require.Equal(t, "2", again.Next().ID)
	require.Empty(t, again.Failed+again.Hinted)
	for text, says := range map[string]string{
		"passed 99\n": `line 1 of progress.txt is not understood: "passed 99"; delete the line, or correct it`,
		"\npasst 3\n": `line 2 of progress.txt is not understood: "passt 3"; delete the line, or correct it`,
		"hints 3 4\n": `line 1 of progress.txt is not understood: "hints 3 4"; delete the line, or correct it`,
	} {
		_, err := parseProgress(text)
		require.EqualError(t, err, says)
	}
}

func TestEveryVersionIsKeptOnce(t *testing.T) {
	f := newFolder(t, "1")
	keep := func(text string) string {
		name, err := f.Keep(apart.Files{"mutex.go": text})
		require.NoError(t, err)
		requireLock(t, f, name, text)
		return filepath.ToSlash(name)
	}
	require.Equal(t, "_copies/001", keep("package mylock // a\n"))
	require.Equal(t, "_copies/001", keep("package mylock // a\n"))
	require.Equal(t, "_copies/002", keep("package mylock // b\n"))
	require.Equal(t, "_copies/003", keep("package mylock // a\n"))
	f.write(t, "mutex.go", "package mylock // a\n")
	message, err := f.Reset(false)
	require.NoError(t, err)
	require.Contains(t, message.Error(), "What you wrote is in _copies/003.", "it was kept already")
}

func TestTestIsOverwrittenAndSubjectIsNot(t *testing.T) {
	f := newFolder(t, "6.1")
	f.write(t, testName, "package mylock // changed\n")
	f.write(t, "subject.go", "package mylock\n\nfunc Subject() failures.Subject { return mine }\n")
	requireStart(t, f, "6.1", false, "It continues where you left it")
	test, err := os.ReadFile(f.path(testName))
	require.NoError(t, err)
	require.Contains(t, string(test), "TestMyLock plays the failures of exercise 6.1 on your lock.")
	files, err := f.Lock()
	require.NoError(t, err)
	require.Contains(t, files["subject.go"], "return mine")

	p, err := f.Progress()
	require.NoError(t, err)
	p.pass("6.1")
	require.NoError(t, f.Save(p))
	require.NoError(t, f.put(passed("6.1"), files))
	requireStart(t, f, "6.2", false, "your own lock of exercise 6.1")
	files, err = f.Lock()
	require.NoError(t, err)
	require.Contains(t, files["subject.go"], "return mine")
	requireStart(t, f, "r1", false, "")
	require.NoFileExists(t, f.path("subject.go"), "a lock without options needs none")
}

func TestStampChangesWithATextOfTheSameLengthAndTime(t *testing.T) {
	f := newFolder(t, "1")
	name, at := filepath.Join(f.Dir, "mutex.go"), time.Unix(1_000_000, 0)
	var stamps []string
	for _, text := range []string{"package mylock // a\n", "package mylock // b\n"} {
		f.write(t, "mutex.go", text)
		require.NoError(t, os.Chtimes(name, at, at))
		stamps = append(stamps, f.Stamp())
	}
	require.NotEqual(t, stamps[0], stamps[1])
}
