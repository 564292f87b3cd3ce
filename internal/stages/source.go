package stages

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lockkata/failures_test/timeline"
)

// Code is the source of a stage's lock: its files, without those of its tests.
// sources is the repository's own folder.
func (s Stage) Code(sources fs.FS) (timeline.Code, error) {
	code := timeline.Code{Dir: s.Dir}
	names, err := s.files(sources)
	if err != nil {
		return code, err
	}
	for _, name := range names {
		raw, err := fs.ReadFile(sources, path.Join(s.Dir, name))
		if err != nil {
			return code, err
		}
		code.Files = append(code.Files, timeline.File{Name: name, Text: string(raw)})
	}
	return code, nil
}

func (s Stage) files(sources fs.FS) ([]string, error) {
	all, err := fs.Glob(sources, s.Dir+"/*.go")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range all {
		if !strings.HasSuffix(p, "_test.go") {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
}

// Diff is what stage n, from 2, changed in the lock of the stage before: a unified
// diff for each file of stage n. Package comments and the stage's own name are left
// out: what remains is the lesson.
func Diff(sources fs.FS, n int) ([]string, error) {
	if n < 2 || n > len(All) {
		return nil, fmt.Errorf("stage %d has none before it: there are differences of 2 to %d", n, len(All))
	}
	before, after := All[n-2], All[n-1]
	names, err := after.files(sources)
	if err != nil {
		return nil, err
	}
	var diffs []string
	for _, name := range names {
		old, err := lesson(sources, path.Join(before.Dir, name))
		if err != nil {
			return nil, err
		}
		now, err := lesson(sources, path.Join(after.Dir, name))
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, udiff.Unified(path.Join(before.Dir, name), path.Join(after.Dir, name), old, now))
	}
	return diffs, nil
}

var ownName = regexp.MustCompile(`\bstage[1-9]\b`)

// lesson is a file without what differs between any two stages: the package
// comment and the stage's name. A file that does not exist is empty.
func lesson(sources fs.FS, name string) (string, error) {
	if _, err := fs.Stat(sources, name); err != nil {
		return "", nil
	}
	raw, err := fs.ReadFile(sources, name)
	if err != nil {
		return "", err
	}
	text := string(raw)
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at+1:]
	}
	return ownName.ReplaceAllString(text, "stage"), nil
}
