// Package edits has mistakes that are easy to make in a lock of this repository. Each changes a
// line or two, and names the harm to a user of the lock and the failure that shows it. An edit may
// also be another way to do the same: then no failure has another outcome.
package edits

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/stages"
)

// Change replaces a text of a file.
type Change struct {
	File     string
	Old, New string // the text, which occurs once in the file, and its replacement
}

// Apply returns the text of the file with the change.
func (c Change) Apply(text string) (string, error) {
	if n := strings.Count(text, c.Old); n != 1 {
		return "", fmt.Errorf("edits: %q is %d times in %s, not once", c.Old, n, c.File)
	}
	return strings.Replace(text, c.Old, c.New, 1), nil
}

// Edit is one mistake, or another way to do the same.
type Edit struct {
	Name    string
	Stage   stages.Stage // the stage whose lock it changes
	Change               // its file is in the repository
	Suffers string       // the harm to a user of the lock
	// Failure has another outcome with the edit, and breaks Rule. It is "" if no failure has.
	Failure string
	Outcome failures.Outcome
	Rule    oracle.Rule
	// Search is a search, property/environment, that must find the mistake too, or must find nothing
	// if there is none; "" for no search.
	Search string
}

// texts has a file for the edits of each lock, named after it: stage2.txt, stage6.1.txt.
//
//	== mutex.go: NX dropped
//	- "locked", "NX", "PX"
//	+ "locked", "PX"
//	suffers: every SET succeeds, so several clients get in
//	cell: second-client x broken exclusion
//	search: exclusion/short-pauses
//
// The first line has the file and the edit's name. Lines with - are the old text, and lines
// with + the new one. The cell is the failure, its outcome with the edit, and the rule; or none, if
// every failure has the same outcome as without the edit.
//
//go:embed *.txt
var texts embed.FS

// All has the edits, ordered by lock.
var All []Edit

func init() {
	var err error
	if All, err = read(texts); err != nil {
		panic(err)
	}
}

// Of returns the edits of a lock.
func Of(s stages.Stage) []Edit {
	return slices.DeleteFunc(slices.Clone(All), func(e Edit) bool { return e.Stage.ID != s.ID })
}

// read reads the edits in a folder.
func read(texts fs.FS) (all []Edit, err error) {
	names, err := fs.Glob(texts, "*.txt")
	for _, name := range names {
		stage, err := stages.FindLock(strings.TrimSuffix(strings.TrimPrefix(name, "stage"), ".txt"))
		if err != nil {
			return nil, fmt.Errorf("edits: %s: %w", name, err)
		}
		raw, err := fs.ReadFile(texts, name)
		if err != nil {
			return nil, err
		}
		for _, entry := range strings.Split("\n"+strings.TrimSpace(string(raw)), "\n== ")[1:] {
			e, err := parse(entry)
			if err != nil {
				return nil, fmt.Errorf("edits: %s: %q: %w", name, e.Name, err)
			}
			e.Stage, e.File = stage, path.Join(stage.Dir, e.File)
			all = append(all, e)
		}
	}
	return all, err
}

// parse parses an edit of a file in its lock's folder.
func parse(entry string) (e Edit, err error) {
	heading, text, _ := strings.Cut(entry, "\n")
	file, name, found := strings.Cut(heading, ": ")
	if !found {
		return Edit{Name: heading}, errors.New("its first line has no file")
	}
	e, cell := Edit{Name: name, Change: Change{File: file}}, ""
	fields := map[string]*string{"-": &e.Old, "+": &e.New, "suffers:": &e.Suffers, "cell:": &cell, "search:": &e.Search}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, " ")
		field := fields[key]
		if field == nil {
			return e, fmt.Errorf("line %q has none of - + suffers: cell: search: at its beginning", line)
		}
		*field += value
	}
	for key, field := range fields {
		if *field = strings.TrimSuffix(*field, "\n"); *field == "" && key != "+" && key != "search:" {
			return e, fmt.Errorf("no line begins with %s", key)
		}
	}
	if cell == "none" {
		return e, nil
	}
	words := strings.SplitN(cell, " ", 3)
	if len(words) < 3 || words[1] == "" {
		return e, fmt.Errorf("cell %q is not a failure, its outcome and a rule", cell)
	}
	e.Failure, e.Outcome, e.Rule = words[0], failures.Outcome(words[1][0]), oracle.Rule(words[2])
	return e, nil
}

var notInIDs = regexp.MustCompile(`[^a-z0-9.]+`)

// ID returns the name in the form for a link.
func (e Edit) ID() string { return notInIDs.ReplaceAllString(strings.ToLower(e.Name), "-") }

// Apply returns the text of the file with the edit. Line numbers do not change.
func (e Edit) Apply(text string) (string, error) {
	fewer := strings.Count(e.Old, "\n") - strings.Count(e.New, "\n")
	e.New += strings.Repeat("\n", max(0, fewer))
	return e.Change.Apply(text)
}
