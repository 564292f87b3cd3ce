package kata

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"lockkata/internal/stages"
)

// exercises are the files that are no stage's. Most are parts of a lock, which
// compile with the rest of it only: hence the folder's name, which Go passes over.
//
//go:embed all:_exercises
var exercises embed.FS

// Material says where the files of a start or of a solution come from.
type Material struct {
	Stage   int    // the lock of this stage; 0 for none
	Edits   []Edit // changes in the stage's files
	Adapter string // the file that shows the stage's lock to the failures, if it needs one
	Folder  string // a folder of _exercises, whose files come on top
}

// Edit replaces a text that is in a file exactly once.
type Edit struct{ File, Old, New string }

// Files reads the material. repository is the module's files: a stage is taken
// as it is there.
func (m Material) Files(repository fs.FS) (Files, error) {
	files := Files{}
	if m.Stage > 0 {
		if err := addStage(files, repository, stages.All[m.Stage-1].Dir); err != nil {
			return nil, err
		}
	}
	if m.Adapter != "" {
		raw, err := fs.ReadFile(repository, m.Adapter)
		if err != nil {
			return nil, err
		}
		files["adapter.go"] = within(string(raw), stages.All[m.Stage-1].Dir)
	}
	for _, e := range m.Edits {
		if n := strings.Count(files[e.File], e.Old); n != 1 {
			return nil, fmt.Errorf("kata: %q is %d times in %s of stage %d, not once", e.Old, n, e.File, m.Stage)
		}
		files[e.File] = strings.Replace(files[e.File], e.Old, e.New, 1)
	}
	if m.Folder == "" {
		return files, nil
	}
	dir := path.Join("_exercises", m.Folder)
	entries, err := fs.ReadDir(exercises, dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		raw, err := fs.ReadFile(exercises, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		files[entry.Name()] = string(raw)
	}
	return files, nil
}

// addStage adds the files that make a stage's lock, as package mylock.
func addStage(files Files, repository fs.FS, dir string) error {
	entries, err := fs.ReadDir(repository, dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, "_test.go") || path.Ext(name) != ".go" && path.Ext(name) != ".lua" {
			continue
		}
		raw, err := fs.ReadFile(repository, path.Join(dir, name))
		if err != nil {
			return err
		}
		files[name] = renamed(string(raw))
	}
	return nil
}

// within is an adapter's file as part of the package that it adapts.
func within(text, dir string) string {
	name, _, _ := strings.Cut(dir, "_")
	text = strings.Replace(text, "\t"+name+" \"lockkata/"+dir+"\"\n", "", 1)
	return strings.Replace(strings.ReplaceAll(text, name+".", ""), "package stages\n", "package mylock\n", 1)
}

var stageName = regexp.MustCompile(`\bstage[1-9]\b`)

// renamed is a stage's file in the learner's package. The package comment tells
// what the stage's bug is, so it stays behind.
func renamed(text string) string {
	if at := strings.Index(text, "\npackage "); at >= 0 && !strings.Contains(text[:at], "import") {
		text = text[at+1:]
	}
	return stageName.ReplaceAllString(text, "mylock")
}
