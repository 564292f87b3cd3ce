package kata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"lockkata/internal/apart"
	"lockkata/internal/i18n"
)

// Folder is a learner's folder:
//
//	mutex.go, …       the lock; from exercise 6.1 on with subject.go
//	mylock_test.go    go test plays the failures of the exercise
//	progress.txt      the learner's progress
//	_start/3/         the files with which exercise 3 began
//	_left/3/          the lock as it was when another exercise was begun
//	_passed/3/        the lock when it passed exercise 3
//	_copies/001/      a version that was checked, or that a new beginning has replaced
//
// Go ignores folders whose name begins with "_".
type Folder struct {
	Root     string // the repository's folder
	Dir      string
	Flag     string        // " --dir …" if commands need it
	Language i18n.Language // of the comments in the files that the kata writes
}

func (f Folder) path(name ...string) string { return filepath.Join(f.Dir, filepath.Join(name...)) }

// Folders of an exercise.
func began(id string) string  { return filepath.Join("_start", id) }
func left(id string) string   { return filepath.Join("_left", id) }
func passed(id string) string { return filepath.Join("_passed", id) }

var noneUnderWay = i18n.New("no exercise is under way in {dir}: begin with go run . kata start{flag}")

// present returns the exercise under way.
func (f Folder) present() (Exercise, Progress, error) {
	p, err := f.Progress()
	if err != nil {
		return Exercise{}, p, err
	}
	e, err := Find(p.Exercise)
	if err != nil {
		return e, p, noneUnderWay.Args("dir", f.Dir, "flag", f.Flag)
	}
	return e, p, nil
}

// Lock reads the learner's lock.
func (f Folder) Lock() (apart.Files, error) { return f.lock(".") }

// lock reads the lock in a subfolder. If the folder does not exist it returns no files.
func (f Folder) lock(name string) (apart.Files, error) {
	files, err := readLock(os.DirFS(f.Dir), filepath.ToSlash(name))
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = f.path(at.Path) // a path relative to this folder
	}
	return files, mayNot(err)
}

var needsRight = i18n.New("{why}: fix its permissions, or choose another folder with --dir")

// mayNot adds advice to a permission error.
func mayNot(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return needsRight.Args("why", err)
	}
	return err
}

// Start begins or resumes an exercise, with the lock as it was left. A new exercise, or one that
// begins again, starts from the learner's own lock if the exercise before has passed, else from ours.
// Start keeps a copy of everything that the learner wrote, and returns a sentence about where the
// lock came from.
func (f Folder) Start(e Exercise, afresh bool) (message i18n.Message, err error) {
	if err := f.usable(); err != nil {
		return message, err
	}
	e.language = f.Language
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
		message = unnamedIsIn.Args("begins", message, "file", progressName, "folder", filepath.ToSlash(kept), "flag", f.Flag)
	}
	p.Exercise, p.Failed, p.Hinted = e.ID, "", ""
	return message, f.save(p)
}

// Sentences about the lock with which an exercise begins.
var (
	goesOnHere    = i18n.New("It continues where you left it; --fresh starts it again.")
	withYourLock  = i18n.New("It begins with your own lock of exercise {id}.")
	withSkeleton  = i18n.New("It begins with a skeleton that compiles.")
	withLockMade  = i18n.New("It begins with a lock that was made from that of {stage}.")
	withLock      = i18n.New("It begins with the lock of {stage}.")
	wroteIsIn     = i18n.New("{begins} What you wrote is in {folder}.")
	unnamedIsIn   = i18n.New("{begins} {file} named no exercise, so the lock that was here is in {folder}. To go on with that one, start its exercise with go run . kata start N{flag}, and copy the files back.")
	beginsAgain   = i18n.New("Exercise {id} begins again. {begins}")
	allBeginAgain = i18n.New("All exercises begin again. {begins} What there was is in {folder}.")
)

// enter replaces the current lock by the lock of the exercise.
func (f Folder) enter(e Exercise, p Progress, afresh bool) (whose i18n.Message, err error) {
	kept, err := f.lock(left(e.ID))
	if err != nil {
		return whose, err
	}
	start, err := f.lock(began(e.ID))
	if err != nil {
		return whose, err
	}
	isBegun := len(kept) > 0 && kept.Key() != start.Key()
	if isBegun && !afresh {
		return goesOnHere.Args(), f.replace(kept)
	}
	files, whose, err := f.startOf(e, p)
	if err != nil {
		return whose, err
	}
	if isBegun && kept.Key() != files.Key() {
		name, err := f.keep(kept)
		if err != nil {
			return whose, err
		}
		whose = wroteIsIn.Args("begins", whose, "folder", filepath.ToSlash(name))
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
		return f.keep(files)
	}
	return "", f.put(left(id), files)
}

var (
	notPassedYet = i18n.New("exercise {id} is not passed yet: go run . kata check{flag}, or go run . kata start {next}{flag} to go on all the same")
	isLast       = i18n.New("exercise {id} is the last one")
)

// Next returns the exercise after the present one, which must have passed.
func (f Folder) Next() (Exercise, error) {
	e, p, err := f.present()
	if err != nil {
		return e, err
	}
	after, more := e.next()
	switch {
	case !p.HasPassed(e.ID):
		return e, notPassedYet.Args("id", e.ID, "next", after.ID, "flag", f.Flag)
	case !more:
		return e, isLast.Args("id", e.ID)
	}
	return after, nil
}

var otherFiles = i18n.New("{dir} holds other files and no {file}: choose a new folder; if they are your lock, write a {file} with a line that names its exercise, such as exercise 3")

// usable refuses a folder with files that the kata has not written.
func (f Folder) usable() error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return mayNot(err)
	}
	entries, err := os.ReadDir(f.Dir)
	if _, none := os.Stat(f.path(progressName)); err == nil && none != nil && len(entries) > 0 {
		return otherFiles.Args("dir", f.Dir, "file", progressName)
	}
	return mayNot(err)
}

// startOf returns the files with which the exercise begins, and a sentence about them.
func (f Folder) startOf(e Exercise, p Progress) (apart.Files, i18n.Message, error) {
	if e.Before != "" && p.HasPassed(e.Before) {
		files, err := f.lock(passed(e.Before))
		if err == nil && len(files) > 0 {
			return e.withSubject(files), withYourLock.Args("id", e.Before), nil
		}
	}
	whose, of := withLock, e.Before
	switch {
	case e.isRepair():
		whose, of = withLockMade, e.Lock
	case e.Before == "":
		whose, of = withSkeleton, e.Lock
	}
	files, err := e.Start(os.DirFS(f.Root))
	return files, whose.Args("stage", stageOf(of).NameText()), err
}

// Reset begins the present exercise again. With all it saves and forgets every exercise that was
// passed or begun, and begins again with the first.
func (f Folder) Reset(all bool) (message i18n.Message, err error) {
	e, _, err := f.present()
	if err != nil {
		return message, err
	}
	if !all {
		message, err = f.Start(e, true)
		return beginsAgain.Args("id", e.ID, "begins", message), err
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
	if err := f.save(Progress{}); err != nil {
		return message, err
	}
	message, err = f.Start(All[0], true)
	return allBeginAgain.Args("begins", message, "folder", filepath.ToSlash(name)), err
}

// replace replaces the lock by these files.
func (f Folder) replace(files apart.Files) error {
	old, err := f.Lock()
	if err != nil {
		return err
	}
	for name := range old {
		if _, stays := files[name]; !stays {
			if err := os.Remove(f.path(name)); err != nil {
				return mayNot(err)
			}
		}
	}
	return writeFiles(f.Dir, files)
}

// keep copies a version of the lock into _copies, unless the newest copy there is the same, and
// returns the copy's folder.
func (f Folder) keep(files apart.Files) (string, error) {
	n := f.copies()
	newest, err := f.lock(copied(n))
	if err != nil || newest.Key() == files.Key() {
		return copied(n), err
	}
	return copied(n + 1), f.put(copied(n+1), files)
}

// copies returns the highest number of a copy, or 0.
func (f Folder) copies() (highest int) {
	entries, _ := os.ReadDir(f.path("_copies"))
	for _, entry := range entries {
		n, _ := strconv.Atoi(entry.Name())
		highest = max(highest, n)
	}
	return highest
}

func copied(n int) string { return filepath.Join("_copies", fmt.Sprintf("%03d", n)) }

// put makes a subfolder of the kata contain exactly these files.
func (f Folder) put(name string, files apart.Files) error {
	if err := os.RemoveAll(f.path(name)); err != nil {
		return mayNot(err)
	}
	if err := os.MkdirAll(f.path(name), 0o755); err != nil {
		return mayNot(err)
	}
	return writeFiles(f.path(name), files)
}

func writeFiles(dir string, files apart.Files) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return mayNot(err)
		}
	}
	return nil
}

// scaffold writes the files that make the folder a Go package for "go test" and an editor: the
// exercise's test, and outside the repository a go.mod, unless there is one.
func (f Folder) scaffold(e Exercise) error {
	files, err := f.Lock()
	if err != nil {
		return err
	}
	beside := apart.Files{testName: e.written(e.lockOf(files).Test())}
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
