package kata

import (
	"embed"
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

// exercises has a folder for each exercise: its texts, and the files that no lock of the repository has.
//
//go:embed exercises
var exercises embed.FS

// Start reads the exercise's start: the lock to repair, the solution of the exercise before, or the
// skeleton. repository is the module's files.
func (e Exercise) Start(repository fs.FS) (files apart.Files, err error) {
	switch {
	case e.isRepair():
		files, err = e.changed(repository, e.Changes)
		for name, text := range files {
			if strings.Contains(text, "\nfunc NewMutex(") {
				files[name] = e.written("// Package mylock is a lock with a mistake.\n") + text
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
			files[name] = e.written(text)
		}
	}
	return e.withSubject(files), err
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
	return e.withSubject(files), err
}

// changed reads the exercise's lock as a package mylock, with these changes.
func (e Exercise) changed(repository fs.FS, changes []edits.Change) (apart.Files, error) {
	files, err := stageOf(e.Lock).Files(repository)
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
	return readLock(exercises, path.Join("exercises", e.Folder, name))
}

// readLock reads the Go files of a folder, and files next to them that they may embed. If the folder
// does not exist it returns no files.
func readLock(from fs.FS, dir string) (apart.Files, error) {
	files, err := stages.ReadFiles(from, dir)
	if files == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}
