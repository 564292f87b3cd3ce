package kata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"lockkata/internal/i18n"
)

// Folder is where a learner works:
//
//	mutex.go, …     the lock
//	lock_test.go    one line: go test asks what "kata check" asks
//	progress.txt    how far the learner is
//	_start/3/       what exercise 3 began with
//	_left/3/        the lock as it was when another exercise was begun
//	_passed/3/      the lock when it passed exercise 3
//	_copies/001/    what a new beginning has replaced
//
// Go passes over folders whose name begins with "_".
type Folder struct {
	Root string // the repository
	Dir  string
}

const testText = `package mylock

import (
	"testing"

	"lockkata/internal/kata"
)

func TestMyLock(t *testing.T) { kata.Test(t) }
`

func (f Folder) path(name ...string) string { return filepath.Join(f.Dir, filepath.Join(name...)) }

// The folders that there are for an exercise.
func began(id string) string  { return filepath.Join("_start", id) }
func left(id string) string   { return filepath.Join("_left", id) }
func passed(id string) string { return filepath.Join("_passed", id) }

var noneUnderWay = i18n.New("no exercise is under way in {dir}: begin with kata start")

// present is the exercise under way.
func (f Folder) present() (Exercise, Progress, error) {
	p, err := f.Progress()
	if err != nil {
		return Exercise{}, p, err
	}
	e, err := Find(p.Exercise)
	if err != nil {
		return e, p, noneUnderWay.Args("dir", f.Dir)
	}
	return e, p, nil
}

// Lock reads the learner's lock.
func (f Folder) Lock() (Files, error) { return f.lock(".") }

// lock reads the one in a folder below.
func (f Folder) lock(name string) (Files, error) {
	files, err := readLock(os.DirFS(f.Dir), filepath.ToSlash(name))
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = f.path(at.Path) // it is told from the folder on
	}
	return files, mayNot(err)
}

var needsRight = i18n.New("{why}: take the right to read and write there, or choose another folder with --dir")

// mayNot adds to the system's refusal what to do about it.
func mayNot(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return needsRight.Args("why", err)
	}
	return err
}

// Start makes the exercise the present one, with the lock as it was left when another was
// begun. One that is new, or is to be begun afresh, begins with the learner's own lock
// where it goes on from an exercise that has passed, else with ours. Nothing that somebody
// wrote is lost. Start returns what there is to say about that.
func (f Folder) Start(e Exercise, afresh bool) (said i18n.Message, err error) {
	if err := f.usable(); err != nil {
		return said, err
	}
	p, err := f.Progress()
	if err != nil {
		return said, err
	}
	said, err = f.enter(e, p, afresh)
	if err == nil {
		err = f.scaffold()
	}
	if err != nil {
		return said, err
	}
	p.Exercise = e.ID
	return said, f.save(p)
}

// What there is to say of a lock that an exercise begins with.
var (
	goesOnHere    = i18n.New("It goes on where you left it; --fresh begins it anew.")
	withYourLock  = i18n.New("It begins with your own lock of exercise {id}.")
	withSkeleton  = i18n.New("It begins with a skeleton that compiles.")
	withLockMade  = i18n.New("It begins with a lock that was made from that of {stage}.")
	withLock      = i18n.New("It begins with the lock of {stage}.")
	wroteIsIn     = i18n.New("{begins} What you wrote is in {folder}.")
	beginsAgain   = i18n.New("Exercise {id} begins again. {begins}")
	allBeginAgain = i18n.New("All exercises begin again. {begins} What there was is in {folder}.")
)

// enter exchanges the lock that is there for that of the exercise.
func (f Folder) enter(e Exercise, p Progress, afresh bool) (whose i18n.Message, err error) {
	if err := f.leave(p.Exercise); err != nil {
		return whose, err
	}
	kept, err := f.lock(left(e.ID))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return whose, err
	}
	start, err := f.lock(began(e.ID))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return whose, err
	}
	isBegun := len(kept) > 0 && kept.key() != start.key()
	if isBegun && !afresh {
		return goesOnHere.Args(), f.replace(kept)
	}
	files, whose, err := f.startOf(e, p)
	if err != nil {
		return whose, err
	}
	if isBegun && kept.key() != files.key() {
		name, err := f.freeCopy()
		if err != nil {
			return whose, err
		}
		if err := f.put(name, kept); err != nil {
			return whose, err
		}
		whose = wroteIsIn.Args("begins", whose, "folder", filepath.ToSlash(name))
	}
	if err := f.put(began(e.ID), files); err != nil {
		return whose, err
	}
	return whose, f.replace(files)
}

// leave keeps the lock that is there for when its exercise goes on. That of no exercise is
// kept as a copy.
func (f Folder) leave(id string) error {
	files, err := f.Lock()
	if err != nil || len(files) == 0 {
		return err
	}
	name := left(id)
	if id == "" {
		if name, err = f.freeCopy(); err != nil {
			return err
		}
	}
	return f.put(name, files)
}

var (
	notPassedYet = i18n.New("exercise {id} is not passed yet: go run . kata check, or go run . kata start {next} to go on all the same")
	isLast       = i18n.New("exercise {id} is the last one")
)

// Next is the exercise after the present one, which has to have passed.
func (f Folder) Next() (Exercise, error) {
	e, p, err := f.present()
	if err != nil {
		return e, err
	}
	after, more := e.next()
	switch {
	case !p.HasPassed(e.ID):
		return e, notPassedYet.Args("id", e.ID, "next", after.ID)
	case !more:
		return e, isLast.Args("id", e.ID)
	}
	return after, nil
}

var otherFiles = i18n.New("{dir} holds other files and no {file}: choose a new folder")

// usable refuses a folder with somebody else's files.
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

// startOf are the files that the exercise begins with, and whose lock they are.
func (f Folder) startOf(e Exercise, p Progress) (Files, i18n.Message, error) {
	if e.Before != "" && p.HasPassed(e.Before) {
		files, err := f.lock(passed(e.Before))
		if err == nil && len(files) > 0 {
			return files, withYourLock.Args("id", e.Before), nil
		}
	}
	files, err := e.Start.Files(os.DirFS(f.Root))
	switch {
	case e.Start.Column == "":
		return files, withSkeleton.Args(), err
	case len(e.Start.Edits) > 0:
		return files, withLockMade.Args("stage", column(e.Start.Column).NameText()), err
	}
	return files, withLock.Args("stage", column(e.Start.Column).NameText()), err
}

// Reset begins the present exercise anew. With all it forgets every exercise that was
// passed or begun, and begins again with the first; what there was of them is kept.
func (f Folder) Reset(all bool) (said i18n.Message, err error) {
	e, _, err := f.present()
	if err != nil {
		return said, err
	}
	if !all {
		said, err = f.Start(e, true)
		return beginsAgain.Args("id", e.ID, "begins", said), err
	}
	if err := f.leave(e.ID); err != nil {
		return said, err
	}
	name, err := f.freeCopy()
	if err != nil {
		return said, err
	}
	for _, own := range []string{"_passed", "_left"} {
		if err := os.Rename(f.path(own), f.path(name, own)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return said, err
		}
	}
	if err := f.replace(nil); err != nil { // it has been left
		return said, err
	}
	if err := f.save(Progress{}); err != nil {
		return said, err
	}
	said, err = f.Start(All[0], true)
	return allBeginAgain.Args("begins", said, "folder", filepath.ToSlash(name)), err
}

// replace puts these files into the place of the lock that is there.
func (f Folder) replace(files Files) error {
	old, err := f.Lock()
	if err != nil {
		return err
	}
	for name := range old {
		if _, stays := files[name]; !stays {
			if err := os.Remove(f.path(name)); err != nil {
				return err
			}
		}
	}
	return writeFiles(f.Dir, files)
}

// freeCopy makes a folder for a copy, with the next number.
func (f Folder) freeCopy() (string, error) {
	if err := os.MkdirAll(f.path("_copies"), 0o755); err != nil {
		return "", mayNot(err)
	}
	for n := 1; ; n++ {
		name := filepath.Join("_copies", fmt.Sprintf("%03d", n))
		if err := os.Mkdir(f.path(name), 0o755); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// put makes a folder below this one hold exactly these files. It is one of ours.
func (f Folder) put(name string, files Files) error {
	if err := os.RemoveAll(f.path(name)); err != nil {
		return mayNot(err)
	}
	if err := os.MkdirAll(f.path(name), 0o755); err != nil {
		return mayNot(err)
	}
	return writeFiles(f.path(name), files)
}

func writeFiles(dir string, files Files) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return mayNot(err)
		}
	}
	return nil
}

// scaffold adds what makes the folder a Go package that "go test" and an editor
// understand, unless it is there: the test, and outside the repository a go.mod.
func (f Folder) scaffold() error {
	beside := Files{"lock_test.go": testText}
	if within, err := filepath.Rel(f.Root, f.Dir); err != nil || !filepath.IsLocal(within) {
		mod, err := os.ReadFile(filepath.Join(f.Root, "go.mod"))
		if err != nil {
			return err
		}
		sums, err := os.ReadFile(filepath.Join(f.Root, "go.sum"))
		if err != nil {
			return err
		}
		// Below lockkata/, the module may import what is internal to the repository.
		beside["go.mod"] = strings.Replace(string(mod), "module lockkata\n", "module lockkata/mylock\n", 1) +
			fmt.Sprintf("\nrequire lockkata v0.0.0\n\nreplace lockkata => %q\n", f.Root)
		beside["go.sum"] = string(sums)
	}
	for name := range beside {
		if _, err := os.Lstat(f.path(name)); err == nil {
			delete(beside, name)
		}
	}
	return writeFiles(f.Dir, beside)
}

func (f Folder) keep(files Files) error { return nil }
