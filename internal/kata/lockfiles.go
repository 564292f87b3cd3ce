package kata

import (
	"embed"
	"errors"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"

	"lockkata/internal/stages"
)

// exercises has a folder for each exercise: its texts, and its start unless that is another lock.
//
//go:embed exercises
var exercises embed.FS

// Start reads the exercise's start: from its folder, or the solution of the exercise before.
// repository is the module's files.
func (e Exercise) Start(repository fs.FS) (Files, error) {
	files, err := e.own("start")
	for name := range files {
		files[name] = e.written(files[name])
	}
	if err == nil && len(files) == 0 {
		before, unknown := Find(e.Before)
		if unknown != nil {
			return nil, unknown
		}
		files, err = before.Solution(repository)
	}
	return e.withSubject(files), err
}

// Solution reads our lock: from the exercise's folder, or the lock of its stage.
func (e Exercise) Solution(repository fs.FS) (Files, error) {
	files, err := e.own("solution")
	if err == nil && len(files) == 0 {
		files, err = stageOf(e.Base).Files(repository)
		for name := range files {
			files[name] = stages.Renamed(files[name], "mylock")
		}
	}
	return e.withSubject(files), err
}

// own reads a subfolder of the exercise's folder.
func (e Exercise) own(name string) (Files, error) {
	return readLock(exercises, path.Join("exercises", e.Folder, name))
}

// readLock reads the files of a folder that Go would compile, and files next to them that they
// may embed. If the folder does not exist it returns no files.
func readLock(from fs.FS, dir string) (Files, error) {
	files, err := stages.ReadFiles(from, dir)
	if files == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	maps.DeleteFunc(files, func(name, text string) bool { return path.Ext(name) == ".go" && !isCompiled(name, text) })
	return files, err
}

// isCompiled reports whether Go would compile the file here. A malformed file is compiled, so that
// the compiler reports it.
func isCompiled(name, text string) bool {
	c := build.Default
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	match, err := c.MatchFile("", name)
	return match || err != nil
}
