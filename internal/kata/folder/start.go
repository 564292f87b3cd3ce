package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/stages"
)

// Start begins or resumes an exercise, with the lock as it was left. A new exercise, or one that
// begins again, starts from the learner's own lock if the exercise before has passed, else from ours.
// Start keeps a copy of everything that the learner wrote, and returns a sentence about where the
// lock came from.
func (f Folder) Start(e exercises.Exercise, afresh bool) (message i18n.Message, err error) {
	if err := f.usable(); err != nil {
		return message, err
	}
	e.Language = f.Language
	p, err := f.Progress()
	if err != nil {
		return message, err
	}
	kept, err := f.leave(p.Exercise)
	if err == nil {
		message, err = f.enter(e, p, afresh)
	}
	if err == nil {
		err = f.scaffold(e)
	}
	if err != nil {
		return message, err
	}
	if kept != "" {
		message = unnamedCopyText.Args("begins", message, "file", progressName, "folder", filepath.ToSlash(kept), "flag", f.Flag)
	}
	p.Exercise, p.Failed, p.Hinted = e.ID, "", ""
	return message, f.Save(p)
}

// Sentences about the lock with which an exercise begins.
var (
	resumedText     = i18n.New("It continues where you left it; --fresh starts it again.")
	ownLockText     = i18n.New("It begins with your own lock of exercise {id}.")
	skeletonText    = i18n.New("It begins with a skeleton that compiles.")
	changedLockText = i18n.New("It begins with a lock that was made from that of {stage}.")
	stageLockText   = i18n.New("It begins with the lock of {stage}.")
	copyText        = i18n.New("{begins} What you wrote is in {folder}.")
	unnamedCopyText = i18n.New("{begins} {file} named no exercise, so the lock that was here is in {folder}. To go on with that one, start its exercise with go run . kata start N{flag}, and copy the files back.")
	restartText     = i18n.New("Exercise {id} begins again. {begins}")
	fullRestartText = i18n.New("All exercises begin again. {begins} What there was is in {folder}.")
)

// enter replaces the current lock by the lock of the exercise.
func (f Folder) enter(e exercises.Exercise, p Progress, afresh bool) (whose i18n.Message, err error) {
	kept, err := f.lock(left(e.ID))
	if err != nil {
		return whose, err
	}
	start, err := f.Begun(e.ID)
	if err != nil {
		return whose, err
	}
	isBegun := len(kept) > 0 && kept.Key() != start.Key()
	if isBegun && !afresh {
		return resumedText.Args(), f.replace(kept)
	}
	files, whose, err := f.startOf(e, p)
	if err != nil {
		return whose, err
	}
	if isBegun && kept.Key() != files.Key() {
		name, err := f.Keep(kept)
		if err != nil {
			return whose, err
		}
		whose = copyText.Args("begins", whose, "folder", filepath.ToSlash(name))
	}
	if err := f.put(began(e.ID), files); err != nil {
		return whose, err
	}
	return whose, f.replace(files)
}

// leave saves the current lock for when its exercise is resumed. Without an exercise it saves a
// copy, and returns the copy's folder.
func (f Folder) leave(id string) (kept string, err error) {
	files, err := f.Lock()
	if err != nil || len(files) == 0 {
		return "", err
	}
	if id == "" {
		return f.Keep(files)
	}
	return "", f.put(left(id), files)
}

var notPassedText = i18n.New("exercise {id} is not passed yet: go run . kata check{flag}, or go run . kata start {next}{flag} to go on all the same")

// Next returns the exercise after the present one, which must have passed.
func (f Folder) Next() (exercises.Exercise, error) {
	e, p, err := f.Present()
	if err != nil {
		return e, err
	}
	after, err := e.Next()
	if !p.HasPassed(e.ID) {
		err = notPassedText.Args("id", e.ID, "next", after.ID, "flag", f.Flag)
	}
	return after, err
}

var otherFilesText = i18n.New("{dir} holds other files and no {file}: choose a new folder; if they are your lock, write a {file} with a line that names its exercise, such as exercise 3")

// usable refuses a folder with files that the kata has not written.
func (f Folder) usable() error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return mayNot(err)
	}
	entries, err := os.ReadDir(f.Dir)
	if _, none := os.Stat(f.path(progressName)); err == nil && none != nil && len(entries) > 0 {
		return otherFilesText.Args("dir", f.Dir, "file", progressName)
	}
	return mayNot(err)
}

// startOf returns the files with which the exercise begins, and a sentence about them.
func (f Folder) startOf(e exercises.Exercise, p Progress) (apart.Files, i18n.Message, error) {
	if e.Before != "" && p.HasPassed(e.Before) {
		files, err := f.lock(passed(e.Before))
		if err == nil && len(files) > 0 {
			return e.WithSubject(files), ownLockText.Args("id", e.Before), nil
		}
	}
	whose, of := stageLockText, e.Before
	switch {
	case e.IsRepair():
		whose, of = changedLockText, e.Lock
	case e.Before == "":
		whose, of = skeletonText, e.Lock
	}
	files, err := e.Start(os.DirFS(f.Root))
	return files, whose.Args("stage", stages.MustFind(of).NameText()), err
}

// Reset begins the present exercise again. With all it saves and forgets every exercise that was
// passed or begun, and begins again with the first.
func (f Folder) Reset(all bool) (message i18n.Message, err error) {
	e, _, err := f.Present()
	if err != nil {
		return message, err
	}
	if !all {
		message, err = f.Start(e, true)
		return restartText.Args("id", e.ID, "begins", message), err
	}
	if _, err := f.leave(e.ID); err != nil {
		return message, err
	}
	name := copied(f.copies() + 1)
	if err := os.MkdirAll(f.path(name), 0o755); err != nil {
		return message, mayNot(err)
	}
	for _, own := range []string{"_passed", "_left"} {
		if err := os.Rename(f.path(own), f.path(name, own)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return message, mayNot(err)
		}
	}
	if err := f.replace(nil); err != nil { // leave has saved it
		return message, err
	}
	if err := f.Save(Progress{}); err != nil {
		return message, err
	}
	message, err = f.Start(exercises.All[0], true)
	return fullRestartText.Args("begins", message, "folder", filepath.ToSlash(name)), err
}

// testName is the test next to the lock.
const testName = "mylock_test.go"

// scaffold writes the files that make the folder a Go package for "go test" and an editor: the
// exercise's test, and outside the repository a go.mod, unless there is one.
func (f Folder) scaffold(e exercises.Exercise) error {
	files, err := f.Lock()
	if err != nil {
		return err
	}
	beside := apart.Files{testName: e.TestOf(files)}
	within, err := filepath.Rel(f.Root, f.Dir)
	_, none := os.Lstat(f.path("go.mod"))
	if (err != nil || !filepath.IsLocal(within)) && none != nil {
		mod, err := os.ReadFile(filepath.Join(f.Root, "go.mod"))
		if err != nil {
			return err
		}
		sums, err := os.ReadFile(filepath.Join(f.Root, "go.sum"))
		if err != nil {
			return err
		}
		beside["go.mod"] = strings.Replace(string(mod), "module lockkata\n", "module mylock\n", 1) +
			fmt.Sprintf("\nrequire lockkata v0.0.0\n\nreplace lockkata => %q\n", f.Root)
		beside["go.sum"] = string(sums)
	}
	return writeFiles(f.Dir, beside)
}
