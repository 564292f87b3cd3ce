// Package folder is the learner's folder: the lock, all its versions, and the progress.
package folder

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/stages"
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

// Lock reads the learner's lock.
func (f Folder) Lock() (apart.Files, error) { return f.lock(".") }

// Begun reads the files with which an exercise began.
func (f Folder) Begun(id string) (apart.Files, error) { return f.lock(began(id)) }

// lock reads the lock in a subfolder. If the folder does not exist it returns no files.
func (f Folder) lock(name string) (apart.Files, error) {
	files, err := exercises.ReadFiles(os.DirFS(f.Dir), filepath.ToSlash(name))
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = f.path(at.Path) // a path relative to this folder
	}
	return files, mayNot(err)
}

var permissionText = i18n.New("{why}: fix its permissions, or choose another folder with --dir")

// mayNot adds advice to a permission error.
func mayNot(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return permissionText.Args("why", err)
	}
	return err
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

// Keep copies a version of the lock into _copies, unless the newest copy there is the same, and
// returns the copy's folder.
func (f Folder) Keep(files apart.Files) (string, error) {
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

// Stamp changes with every save of a file of the lock.
func (f Folder) Stamp() (stamp string) {
	entries, _ := os.ReadDir(f.Dir) // the check reports the error
	for _, entry := range entries {
		if !stages.IsLock(entry.Name()) {
			continue
		}
		if info, err := os.Stat(f.path(entry.Name())); err == nil {
			text, _ := os.ReadFile(f.path(entry.Name())) // a save may leave the time and the size as they were
			stamp += fmt.Sprintln(entry.Name(), info.ModTime().UnixNano(), sha256.Sum256(text))
		}
	}
	return stamp
}
