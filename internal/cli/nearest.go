package cli

import (
	"cmp"
	"slices"
	"strings"

	"lockkata/internal/texts"
)

var (
	thereAre   = texts.New("{fault}; there are: {names}")
	areListed  = texts.New("{fault}; {list} prints all names")
	didYouMean = texts.NewPlural("{fault}; did you mean {names}?", "{fault}; did you mean one of these: {names}?")
)

// mostNames is how many names fit into an error. Only the failures are more.
const (
	mostNames     = 20
	listsFailures = "go run . list"
)

// suggest ends an error about an unknown name with the nearest names.
func suggest(fault texts.Said, name string, known []string) error {
	near := nearest(name, known)
	if len(near) == 0 && len(known) > mostNames {
		return areListed.With("fault", fault, "list", listsFailures)
	}
	if len(near) == 0 {
		return thereAre.With("fault", fault, "names", strings.Join(known, ", "))
	}
	return didYouMean.Of(len(near), "fault", fault, "names", strings.Join(near, ", "))
}

// nearest returns up to three names that one could have meant: those that contain
// the word, else those a few letters away.
func nearest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, k := range known {
		d := distance(name, k)
		if len(name) >= 4 && len(name) < len(k) {
			d = min(d, distance(name, k[:len(name)]))
		}
		switch {
		case name != "" && strings.Contains(k, strings.ToLower(name)):
			found = append(found, candidate{k, 0})
		case d <= max(2, len(name)/4):
			found = append(found, candidate{k, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance is Levenshtein's: how many letters to add, drop or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
