package stages

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/failures_test/trace"
)

// Code is the source of a lock.
type Code struct {
	Dir   string // the folder's name, as in [trace.Source]
	Files []File
}

// File is a file of a lock's source.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Code returns the source of the lock: its Go files, without tests. sources is the repository's
// root.
func (s Stage) Code(sources fs.FS) (Code, error) {
	code := Code{Dir: path.Base(s.Dir)}
	files, err := s.Files(sources)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".go" {
			code.Files = append(code.Files, File{Name: name, Text: files[name]})
		}
	}
	return code, err
}

// Line returns the text of a line; "" if it is not one of the lock's.
func (c Code) Line(at *trace.Source) string {
	if at == nil || path.Dir(at.File) != c.Dir {
		return ""
	}
	for _, f := range c.Files {
		if lines := strings.Split(f.Text, "\n"); f.Name == path.Base(at.File) && at.Line <= len(lines) {
			return lines[at.Line-1]
		}
	}
	return ""
}

// Files returns the lock's files by name.
func (s Stage) Files(sources fs.FS) (map[string]string, error) { return ReadFiles(sources, s.Dir) }

// ReadFiles reads the files of a lock's folder. Without the folder it returns nil and an error.
func ReadFiles(from fs.FS, dir string) (map[string]string, error) {
	entries, err := fs.ReadDir(from, dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		info, err := fs.Stat(from, name) // follows a symbolic link
		if err != nil || !info.Mode().IsRegular() || !IsLock(entry.Name()) {
			continue
		}
		raw, err := fs.ReadFile(from, name)
		if err != nil {
			return files, err
		}
		files[entry.Name()] = string(raw)
	}
	return files, nil
}

// IsLock reports whether a file name is that of a lock's file: Go without tests, or a script.
func IsLock(name string) bool {
	ext, isHidden := path.Ext(name), strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
	return (ext == ".go" || ext == ".lua") && !isHidden && !strings.HasSuffix(name, "_test.go")
}

// Diff returns what the stage changed in the lock before it: a unified diff for each file of
// either. Package comments are left out, and lines that differ only in the stage's own name are
// equal, so that only the lesson remains.
func (s Stage) Diff(sources fs.FS) ([]string, error) {
	changes, err := s.changes(sources)
	var diffs []string
	for _, f := range changes {
		diff, wrong := f.unified()
		if wrong != nil {
			return nil, wrong
		}
		diffs = append(diffs, diff)
	}
	return diffs, err
}

// Changed returns how many lines of code, without blanks and comments, the stage adds to the lock
// before it, and how many it removes.
func (s Stage) Changed(sources fs.FS) (added, removed int, err error) {
	changes, err := s.changes(sources)
	for _, f := range changes {
		for line := range strings.Lines(udiff.Unified("", "", bare(compared(f.was)), bare(compared(f.is)))) {
			switch {
			case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			case line[0] == '+':
				added++
			case line[0] == '-':
				removed++
			}
		}
	}
	return added, removed, err
}

// Lines returns the lines of code of each file of the lock, without blanks and comments.
func (s Stage) Lines(sources fs.FS) (map[string]int, error) {
	files, err := s.Files(sources)
	lines := map[string]int{}
	for name, text := range files {
		lines[name] = strings.Count(bare(text), "\n")
	}
	return lines, err
}

// bare returns a text without blank lines and comment lines, of Go or of Lua.
func bare(text string) string {
	var code strings.Builder
	for line := range strings.Lines(text) {
		if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, "//") && !strings.HasPrefix(word, "--") {
			code.WriteString(line)
		}
	}
	return code.String()
}

// change is a file of one or both of two locks: its path and its text in each.
type change struct{ from, to, was, is string }

// compared returns a file's text as it is compared: without its stage's own name.
func compared(text string) string { return Renamed(text, "stage") }

// unified returns the unified diff, with the text and the line numbers of the files.
func (f change) unified() (string, error) {
	was, is := compared(f.was), compared(f.is)
	diff, err := udiff.ToUnifiedDiff(f.from, f.to, was, udiff.Lines(was, is), udiff.DefaultContextLines)
	oldLines, newLines := strings.SplitAfter(f.was, "\n"), strings.SplitAfter(f.is, "\n")
	oldSkipped, newSkipped := strings.Count(f.was, "\n")-strings.Count(was, "\n"), strings.Count(f.is, "\n")-strings.Count(is, "\n")
	grown := 0 // lines added so far, less those removed
	for _, h := range diff.Hunks {
		h.ToLine = h.FromLine + grown + newSkipped
		h.FromLine += oldSkipped
		from, to := h.FromLine-1, h.ToLine-1
		for i := range h.Lines {
			switch l := &h.Lines[i]; l.Kind {
			case udiff.Delete:
				l.Content, from, grown = oldLines[from], from+1, grown-1
			case udiff.Insert:
				l.Content, to, grown = newLines[to], to+1, grown+1
			default:
				l.Content, from, to = newLines[to], from+1, to+1
			}
		}
	}
	return diff.String(), err
}

// changes returns the files of the stage and of the lock before it.
func (s Stage) changes(sources fs.FS) (changes []change, err error) {
	before, err := Find(s.Before)
	if err != nil {
		return nil, err
	}
	old, err := before.Files(sources)
	if err != nil {
		return nil, err
	}
	files, err := s.Files(sources)
	if err != nil {
		return nil, err
	}
	names := slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(files)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		changes = append(changes, change{path.Join(before.Dir, name), path.Join(s.Dir, name), old[name], files[name]})
	}
	return changes, nil
}

var ownName = regexp.MustCompile(`\b(stage|doc)[1-9]\b`)

// Renamed returns the text of a stage's file with another package name, and without the package
// comment, which describes the stage.
func Renamed(text, name string) string {
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at+1:]
	}
	return ownName.ReplaceAllString(text, name)
}
