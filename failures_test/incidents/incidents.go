// Package incidents lists public reports of the failures of the catalogue.
package incidents

import (
	_ "embed"
	"path"
	"strings"
)

// Incident is a public report of a failure. The software may be another kind of lock, but the story
// is that of the failure.
type Incident struct {
	Source string // repository and number, or author and title
	Link   string
	What   string // the report in one sentence
}

// A line of incidents.txt is the ID of a failure, or a report of it, which is indented:
//
//	link | what
//	link | source | what
//
// A report in a repository's tracker has no source: the link says it.
//
//go:embed incidents.txt
var file string

// All returns the reports of each failure.
func All() map[string][]Incident {
	all := map[string][]Incident{}
	id := ""
	for line := range strings.Lines(file) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		switch len(fields) {
		case 1:
			id = fields[0]
		case 2:
			thread := strings.TrimPrefix(fields[0], "https://github.com/")
			source := path.Dir(path.Dir(thread)) + " #" + path.Base(thread)
			all[id] = append(all[id], Incident{source, fields[0], fields[1]})
		default:
			all[id] = append(all[id], Incident{fields[1], fields[0], fields[2]})
		}
	}
	return all
}
