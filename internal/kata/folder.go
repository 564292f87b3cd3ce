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

const testName = "lock_test.go"

const testText = `package mylock

import (
	"testing"

	"lockkata/internal/kata"
)

func TestMyLock(t *testing.T) { kata.Test(t) }
`

// Lock reads the learner's lock: the files of the folder that Go would compile,
// and others beside them that it may embed.
func (f Folder) Lock() (Files, error) {
	files, err := readFiles(f.Dir)
	return files, mayNot(err)
}

// mayNot adds to the system's refusal what to do about it.
func mayNot(err error) error {
	var said refusal
	if errors.As(err, &said) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return refusal{err}
	}
	return err
}

// refusal is a refusal of the system, with what to do about it.
type refusal struct{ error }

func (r refusal) Error() string {
	return r.error.Error() + ": take the right to read and write there, or choose another folder with --dir"
}

// Unwrap is what the system said.
func (r refusal) Unwrap() error { return r.error }

func readFiles(dir string) (Files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := Files{}
	for _, entry := range entries {
		name := entry.Name()
		info, err := os.Stat(filepath.Join(dir, name)) // a link is as good as a file
		if !isLock(name) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = string(raw)
	}
	return files, nil
}

// isLock tells whether a file of the folder is part of the lock.
func isLock(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".lua")
}

// Start makes the exercise the present one: with the learner's own lock where the
// exercise goes on from one that he has passed, else with ours. What the folder
// held is copied before it goes. It returns what there is to say about that.
func (f Folder) Start(number int) (string, error) {
	said, err := f.start(number)
	return said, mayNot(err)
}

func (f Folder) start(number int) (string, error) {
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
		return err
	}
	if _, err := os.Stat(filepath.Join(f.Dir, progressName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s holds other files and no %s: choose a new folder", f.Dir, progressName)
	}
	return nil
}

// startOf are the files that the exercise begins with, and whose lock they are.
func (f Folder) startOf(e Exercise, p Progress) (Files, string, error) {
	if e.Own > 0 && p.HasPassed(e.Own) {
		files, err := readFiles(f.passedDir(e.Own))
		if err == nil && len(files) > 0 {
			return files, fmt.Sprintf("It begins with your own lock of exercise %d.", e.Own), nil
		}
	}
	files, err := e.Start.Files(os.DirFS(f.Root))
	whose := "It begins with a skeleton that compiles."
	if e.Start.Stage > 0 {
		whose = fmt.Sprintf("It begins with the lock of stage %d.", e.Start.Stage)
	}
	if e.Start.Stage > 0 && (len(e.Start.Edits) > 0 || e.Start.Folder != "") {
		whose = fmt.Sprintf("It begins with a lock that was made from stage %d's.", e.Start.Stage)
	}
	return files, whose, err
}

func (f Folder) passedDir(number int) string {
	return filepath.Join(f.Dir, "_passed", fmt.Sprintf("%02d", number))
}

// replace puts these files into the place of the lock that is there, after that
// was copied. It says where the copy is.
func (f Folder) replace(files Files) (string, error) {
	old, err := f.Lock()
	if err != nil {
		return "", err
	}
	copied := ""
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
			if err := os.Remove(filepath.Join(f.Dir, name)); err != nil {
				return "", err
			}
		}
	}
	return copied, writeFiles(f.Dir, files)
}

// freeCopy makes a folder for a copy, with the next number.
func (f Folder) freeCopy() (string, error) {
	if err := os.MkdirAll(filepath.Join(f.Dir, "_copies"), 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := filepath.Join("_copies", fmt.Sprintf("%03d", n))
		err := os.Mkdir(filepath.Join(f.Dir, name), 0o755)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// put makes a folder below this one hold exactly these files. It is one of ours.
func (f Folder) put(name string, files Files) error {
	dir := filepath.Join(f.Dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeFiles(dir, files)
}

func writeFiles(dir string, files Files) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// scaffold adds what makes the folder a Go package that "go test" and an editor
// understand: the test, and outside the repository a go.mod.
func (f Folder) scaffold() error {
	if err := writeNew(filepath.Join(f.Dir, testName), testText); err != nil {
		return err
	}
	within, err := filepath.Rel(f.Root, f.Dir)
	if err == nil && within != ".." && !strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return nil
	}
	mod, err := os.ReadFile(filepath.Join(f.Root, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(f.Root, "go.sum"))
	if err != nil {
		return err
	}
	// Below lockkata/, the module may import what is internal to the repository.
	text := strings.Replace(string(mod), "module lockkata\n", "module lockkata/mylock\n", 1) +
		fmt.Sprintf("\nrequire lockkata v0.0.0\n\nreplace lockkata => %q\n", f.Root)
	if err := writeNew(filepath.Join(f.Dir, "go.mod"), text); err != nil {
		return err
	}
	return writeNew(filepath.Join(f.Dir, "go.sum"), string(sums))
}

// writeNew writes a file unless it is there.
func writeNew(name, text string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// present is the exercise under way.
func (f Folder) present() (Exercise, Progress, error) {
	p, err := f.Progress()
	if err != nil {
		return Exercise{}, p, err
	}
	e, ok := Find(p.Exercise)
	if !ok {
		return Exercise{}, p, fmt.Errorf("no exercise is under way in %s: begin with kata start", f.Dir)
	}
	return e, p, nil
}
