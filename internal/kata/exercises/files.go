package exercises

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/stages"
)

// Start reads the exercise's start: the lock to repair, the solution of the exercise before, or the
// skeleton. repository is the module's files.
func (e Exercise) Start(repository fs.FS) (files apart.Files, err error) {
	switch {
	case e.IsRepair():
		files, err = e.changed(repository, e.Changes)
		for name, text := range files {
			if strings.Contains(text, "\nfunc NewMutex(") {
				files[name] = translated("// Package mylock is a lock with a mistake.\n", e.Language) + text
			}
		}
	case e.Before != "":
		var before Exercise
		if before, err = Find(e.Before); err == nil {
			files, err = before.Solution(repository)
		}
	default:
		files, err = e.own("start")
		for name, text := range files {
			files[name] = translated(text, e.Language)
		}
	}
	return e.WithSubject(files), err
}

// Solution reads our lock: from the exercise's folder, the repaired start, or the lock itself.
func (e Exercise) Solution(repository fs.FS) (apart.Files, error) {
	files, err := e.own("solution")
	if err == nil && len(files) == 0 {
		var changes []edits.Change
		if e.Repair != nil {
			changes = slices.Concat(e.Changes, e.Repair)
		}
		files, err = e.changed(repository, changes)
	}
	return e.WithSubject(files), err
}

// changed reads the exercise's lock as a package mylock, with these changes.
func (e Exercise) changed(repository fs.FS, changes []edits.Change) (apart.Files, error) {
	files, err := stages.MustFind(e.Lock).Files(repository)
	for name, text := range files {
		files[name] = stages.Renamed(text, "mylock")
	}
	for _, c := range changes {
		if err == nil {
			files[c.File], err = c.Apply(files[c.File])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("exercise %s: %w", e.ID, err)
	}
	return files, nil
}

// own reads a subfolder of the exercise's folder.
func (e Exercise) own(name string) (apart.Files, error) {
	return ReadFiles(data, path.Join(e.Folder, name))
}

// ReadFiles reads the Go files of a folder, and files next to them that they may embed. If the folder
// does not exist it returns no files.
func ReadFiles(from fs.FS, dir string) (apart.Files, error) {
	files, err := stages.ReadFiles(from, dir)
	if files == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// subjectName is a file that makes a lock with options a subject of the failures. It belongs to the learner.
const subjectName = "subject.go"

// WithSubject adds a subject.go to the files if the exercise's lock has options and the files have no func
// Subject.
func (e Exercise) WithSubject(files apart.Files) apart.Files {
	if files != nil && strings.HasPrefix(e.Lock, "6") {
		if text := apart.SubjectOf(files); text != "" {
			files[subjectName] = translated(text, e.Language)
		}
	}
	return files
}

// LockOf returns a lock that is to solve the exercise.
func (e Exercise) LockOf(files apart.Files) apart.Lock {
	return apart.Lock{Files: files, Has: stages.MustFind(e.Lock).Subject.Has, Exercise: e.ID, Requires: e.Required()}
}

// TestOf returns the test that is next to such a lock in the learner's folder.
func (e Exercise) TestOf(files apart.Files) string {
	return translated(e.LockOf(files).Test(), e.Language)
}
