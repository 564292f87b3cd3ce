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
}

// A line of incidents.txt is the ID of a failure, or a report of it, which is indented: its link, and
// its source if the link is not that of a repository's tracker:
//
//	link | source
//
//go:embed incidents.txt
var file string

// All returns the reports of each failure.
func All() map[string][]Incident {
	all := map[string][]Incident{}
	id := ""
	for line := range strings.Lines(file) {
		link, isReport := strings.CutPrefix(strings.TrimSpace(line), "https://")
		if !isReport {
			id = link
			continue
		}
		link, source, named := strings.Cut("https://"+link, " | ")
		if !named {
			thread := strings.TrimPrefix(link, "https://github.com/")
			source = path.Dir(path.Dir(thread)) + " #" + path.Base(thread)
		}
		all[id] = append(all[id], Incident{source, link})
	}
	return all
}
