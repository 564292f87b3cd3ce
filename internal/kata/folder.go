package kata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is where a learner works:
//
//	mutex.go, …     his lock
//	lock_test.go    one line: go test asks what "kata check" asks
//	progress.txt    how far he is
//	_start/         what the present exercise began with
//	_passed/03/     his lock when it passed exercise 3
//	_copies/001/    what a start or a reset has replaced
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

// passed is the folder of the lock that has passed that exercise.
func passed(number int) string { return filepath.Join("_passed", fmt.Sprintf("%02d", number)) }

// present is the exercise under way.
func (f Folder) present() (Exercise, Progress, error) {
	p, err := f.Progress()
	if err != nil {
		return Exercise{}, p, err
	}
	e, ok := Find(p.Exercise)
	if !ok {
		return e, p, fmt.Errorf("no exercise is under way in %s: begin with kata start", f.Dir)
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

// mayNot adds to the system's refusal what to do about it.
func mayNot(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: take the right to read and write there, or choose another folder with --dir", err)
	}
	return err
}

// Start makes the exercise the present one: with the learner's own lock where the
// exercise goes on from one that he has passed, else with ours. What the folder
// held is copied before it goes. It returns what there is to say about that.
func (f Folder) Start(number int) (string, error) {
	e, ok := Find(number)
	if !ok {
		return "", fmt.Errorf("there is no exercise %d; there are 1 to %d", number, len(All))
	}
	if err := f.usable(); err != nil {
		return "", err
	}
	p, err := f.Progress()
	if err != nil {
		return "", err
	}
	files, whose, err := f.startOf(e, p)
	if err != nil {
		return "", err
	}
	copied, err := f.replace(files)
	if err != nil {
		return "", err
	}
	if err := f.put("_start", files); err != nil {
		return "", err
	}
	if err := f.scaffold(); err != nil {
		return "", err
	}
	p.Exercise = number
	return whose + copied, f.save(p)
}

// usable refuses a folder with somebody else's files.
func (f Folder) usable() error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return mayNot(err)
	}
	entries, err := os.ReadDir(f.Dir)
	if _, none := os.Stat(f.path(progressName)); err == nil && none != nil && len(entries) > 0 {
		return fmt.Errorf("%s holds other files and no %s: choose a new folder", f.Dir, progressName)
	}
	return mayNot(err)
}

// startOf are the files that the exercise begins with, and whose lock they are.
func (f Folder) startOf(e Exercise, p Progress) (Files, string, error) {
	if e.Own > 0 && p.HasPassed(e.Own) {
		files, err := f.lock(passed(e.Own))
		if err == nil && len(files) > 0 {
			return files, fmt.Sprintf("It begins with your own lock of exercise %d.", e.Own), nil
		}
	}
	files, err := e.Start.Files(os.DirFS(f.Root))
	switch {
	case e.Start.Stage == 0:
		return files, "It begins with a skeleton that compiles.", err
	case len(e.Start.Edits) > 0 || e.Start.Folder != "":
		return files, fmt.Sprintf("It begins with a lock that was made from stage %d's.", e.Start.Stage), err
	}
	return files, fmt.Sprintf("It begins with the lock of stage %d.", e.Start.Stage), err
}

// Reset brings the start of the present exercise back. With all it forgets every
// exercise that was passed, and begins again with the first. What the folder held
// is copied before it goes, and so is what had passed.
func (f Folder) Reset(all bool) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if !all {
		files, err := f.lock("_start")
		if err != nil || len(files) == 0 {
			return f.Start(e.Number)
		}
		copied, err := f.replace(files)
		return fmt.Sprintf("Exercise %d is as it began.%s", e.Number, copied), err
	}
	p.Passed, p.Hints = nil, nil
	if err := f.save(p); err != nil {
		return "", err
	}
	kept := ""
	if _, err := os.Stat(f.path("_passed")); err == nil {
		name, err := f.freeCopy()
		if err != nil {
			return "", err
		}
		if err := os.Rename(f.path("_passed"), f.path(name, "_passed")); err != nil {
			return "", err
		}
		kept = fmt.Sprintf(" What had passed is in %s.", filepath.ToSlash(name))
	}
	said, err := f.Start(1)
	return "All exercises begin again. " + said + kept, err
}

// replace puts these files into the place of the lock that is there, after that
// was copied. It says where the copy is.
func (f Folder) replace(files Files) (copied string, err error) {
	old, err := f.Lock()
	if err != nil {
		return "", err
	}
	if len(old) > 0 && old.key() != files.key() {
		name, err := f.freeCopy()
		if err != nil {
			return "", err
		}
		if err := f.put(name, old); err != nil {
			return "", err
		}
		copied = fmt.Sprintf(" What was there is in %s.", filepath.ToSlash(name))
	}
	for name := range old {
		if _, stays := files[name]; !stays {
			if err := os.Remove(f.path(name)); err != nil {
				return "", err
			}
		}
	}
	return copied, writeFiles(f.Dir, files)
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
