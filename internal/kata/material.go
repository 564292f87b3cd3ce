package kata

import (
	"bytes"
	"embed"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"
)

// exercises are the files that are no column's. Most are parts of a lock, which
// compile with the rest of it only: hence the folder's name, which Go passes over.
//
//go:embed all:_exercises
var exercises embed.FS

// Material says where the files of a start or of a solution come from.
type Material struct {
	Column  string // the lock of this column; "" for none
	Edits   []Edit // changes in its files
	Adapter string // the file that shows it to the failures, if it needs one
	Folder  string // a folder of _exercises, whose files come on top
}

// Edit replaces a text that is in a file exactly once.
type Edit struct{ File, Old, New string }

// Files reads the material. repository is the module's files: a column's lock is taken
// as it is there.
func (m Material) Files(repository fs.FS) (files Files, err error) {
	files = Files{}
	if m.Column != "" {
		if files, err = readLock(repository, column(m.Column).Dir); err != nil {
			return nil, err
		}
	}
	for name := range files {
		files[name] = renamed(files[name])
	}
	if m.Adapter != "" {
		raw, err := fs.ReadFile(repository, m.Adapter)
		if err != nil {
			return nil, err
		}
		files["adapter.go"] = within(string(raw), column(m.Column).Dir)
	}
	for _, e := range m.Edits {
		if n := strings.Count(files[e.File], e.Old); n != 1 {
			return nil, fmt.Errorf("kata: %q is %d times in %s of %s, not once", e.Old, n, e.File, column(m.Column).Name())
		}
		files[e.File] = strings.Replace(files[e.File], e.Old, e.New, 1)
	}
	if m.Folder != "" {
		more, err := readLock(exercises, path.Join("_exercises", m.Folder))
		if err != nil {
			return nil, err
		}
		maps.Copy(files, more)
	}
	return files, nil
}

// readLock reads the files of a folder that Go would compile, and those beside them that
// they may embed.
func readLock(from fs.FS, dir string) (Files, error) {
	entries, err := fs.ReadDir(from, dir)
	if err != nil {
		return nil, err
	}
	files := Files{}
	for _, entry := range entries {
		name := entry.Name()
		info, err := fs.Stat(from, path.Join(dir, name)) // a link is as good as a file
		if !isLock(name) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		raw, err := fs.ReadFile(from, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if path.Ext(name) != ".go" || isCompiled(name, raw) {
			files[name] = string(raw)
		}
	}
	return files, nil
}

// isLock tells whether a file is part of a lock, by its name.
func isLock(name string) bool {
	ext := path.Ext(name)
	return (ext == ".go" || ext == ".lua") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_test.go")
}

// isCompiled tells whether Go would compile the file here: others are for other systems,
// or for none. What is wrong with a file, the compiler says.
func isCompiled(name string, text []byte) bool {
	c := build.Default
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	match, err := c.MatchFile("", name)
	return match || err != nil
}

// within is an adapter's file as part of the package that it adapts.
func within(text, dir string) string {
	name, _, _ := strings.Cut(dir, "_")
	text = strings.Replace(text, "\t"+name+" \"lockkata/"+dir+"\"\n", "", 1)
	return adapterPackage.ReplaceAllString(renamed(strings.ReplaceAll(text, name+".", "")), "package mylock")
}

var (
	packageName    = regexp.MustCompile(`\b(stage|doc)[1-9]\b`)
	adapterPackage = regexp.MustCompile(`(?m)^package \w+$`)
)

// renamed is a column's file in the learner's package. The package comment tells
// what the lock's bug is, so it stays behind.
func renamed(text string) string {
	if at := strings.Index(text, "\npackage "); at >= 0 && !strings.Contains(text[:at], "import") {
		text = text[at+1:]
	}
	return packageName.ReplaceAllString(text, "mylock")
}
