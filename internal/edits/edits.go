// Package edits holds mistakes that are easy to make in a lock of this repository. Each is a
// change of a line or two, with what a user of the lock would suffer and what shows it.
package edits

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/stages"
)

// Edit is one mistake.
type Edit struct {
	Name     string
	Stage    stages.Stage // whose lock it changes
	File     string       // in the repository
	Old, New string       // the text that is in the file once, and what takes its place
	Suffers  string       // what a user of the lock would suffer
	// What shows it: a failure whose cell has another outcome than the lesson's, and the
	// rule that it breaks.
	Failure string
	Outcome failures.Outcome
	Rule    oracle.Monitor
	Search  string // the search that must find it too, property/environment; "" if none is asked
}

// Each text has the edits of one lock, which its name names: stage2.txt, stage6.1.txt.
//
//	== mutex.go: NX dropped
//	- "locked", "NX", "PX"
//	+ "locked", "PX"
//	suffers: every SET succeeds, so everybody gets in
//	cell: second-client x exclusion
//	search: exclusion/short-pauses
//
// The first line has the file and the edit's name. Lines with - are the old text, and lines
// with + the new one. The cell is the failure, its outcome with the edit, and the rule.
//
//go:embed *.txt
var texts embed.FS

// All are the edits, by the lock that they change.
var All []Edit

func init() {
	var err error
	if All, err = read(texts); err != nil {
		panic(err)
	}
}

// read reads the edits in a folder.
func read(texts fs.FS) (all []Edit, err error) {
	names, err := fs.Glob(texts, "*.txt")
	for _, name := range names {
		column, err := stages.FindLock(strings.TrimSuffix(strings.TrimPrefix(name, "stage"), ".txt"))
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
			e.Stage, e.File = column, path.Join(column.Dir, e.File)
			all = append(all, e)
		}
	}
	return all, err
}

// parse reads an edit, whose file is one of its lock's folder.
func parse(entry string) (e Edit, err error) {
	heading, text, _ := strings.Cut(entry, "\n")
	file, name, found := strings.Cut(heading, ": ")
	if !found {
		return Edit{Name: heading}, errors.New("its first line has no file")
	}
	e, cell := Edit{Name: name, File: file}, ""
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
	words := strings.SplitN(cell, " ", 3)
	if len(words) < 3 || words[1] == "" {
		return e, fmt.Errorf("cell %q is not a failure, its outcome and a rule", cell)
	}
	e.Failure, e.Outcome, e.Rule = words[0], failures.Outcome(words[1][0]), oracle.Monitor(words[2])
	return e, nil
}

var notInIDs = regexp.MustCompile(`[^a-z0-9.]+`)

// ID is the name as it stands in a link.
func (e Edit) ID() string { return notInIDs.ReplaceAllString(strings.ToLower(e.Name), "-") }

// Apply returns the text of the file with the edit. All other lines stay where they are.
func (e Edit) Apply(text string) (string, error) {
	if n := strings.Count(text, e.Old); n != 1 {
		return "", fmt.Errorf("edits: %q is %d times in %s, not once", e.Old, n, e.File)
	}
	fewer := strings.Count(e.Old, "\n") - strings.Count(e.New, "\n")
	return strings.Replace(text, e.Old, e.New+strings.Repeat("\n", max(0, fewer)), 1), nil
}
