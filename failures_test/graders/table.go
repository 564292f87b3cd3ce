package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	failures "lockkata/failures_test"
)

// sign is a card's mark in the table.
func (c card) sign() string {
	switch {
	case !c.asExpected(), c.outcome == failures.Astray:
		return "!"
	case c.outcome == failures.Broken && c.promise.Word == promised:
		return "✗"
	case c.outcome == failures.Broken && c.promise.Word == limited:
		return "l"
	case c.outcome == failures.Broken:
		return "x"
	case c.outcome == failures.Safe:
		return "✓"
	case c.outcome == failures.Noticed:
		return "◐"
	case c.outcome == failures.Inherent:
		return "~"
	case c.outcome == failures.Elsewhere:
		return "·"
	}
	return "–"
}

// printTable writes the libraries, a row for each failure, the legend and the notes.
func printTable(w io.Writer, rows [][]card) {
	fmt.Fprint(w, "Four libraries, and the failures of a Redis lock\n\n")
	for i, l := range libraries {
		where := ""
		if l.Live {
			where = "; live"
		}
		fmt.Fprintf(w, "  %d  %-20s  %s%s\n", i+1, l.Name+" "+l.version(), l.Way, where)
	}
	width := 0
	for _, f := range failures.All {
		width = max(width, len(f.ID), len(f.Family)-2)
	}
	var family failures.Family
	for i, f := range failures.All {
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(w, "\n%-*s", width+2, family)
			for n := range libraries {
				fmt.Fprintf(w, "  %d", n+1)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "  %-*s", width, f.ID)
		for _, c := range rows[i] {
			fmt.Fprint(w, "  "+c.sign())
		}
		fmt.Fprintf(w, "   %s\n", f.Title)
	}
	printLegend(w, rows)
	printNotes(w, rows)
}

// legend are the signs, in the order in which they are told.
var legend = []struct{ sign, says string }{
	{"✗", "broken, though the library promises it"},
	{"l", "broken, as its documentation says"},
	{"x", "broken, and never promised: no fault, but good to know"},
	{"✓", "safe: not broken in this one run"},
	{"◐", "noticed: the hold is lost, and its owner is told in time"},
	{"~", "inherent: no lock with a lease can prevent it"},
	{"–", "not applicable: the library lacks what the failure is about, or its story cannot be told"},
	{"·", "not played"},
	{"!", "not what its lesson says"},
}

func printLegend(w io.Writer, rows [][]card) {
	fmt.Fprintf(w, "\n%s", strings.Repeat(" ", 6))
	for n := range libraries {
		fmt.Fprintf(w, "%4d", n+1)
	}
	fmt.Fprintln(w)
	for _, entry := range legend {
		counts := make([]int, len(libraries))
		total := 0
		for _, row := range rows {
			for n, c := range row {
				if c.sign() == entry.sign {
					counts[n]++
					total++
				}
			}
		}
		if total == 0 {
			continue
		}
		fmt.Fprintf(w, "  %s   ", entry.sign)
		for _, n := range counts {
			fmt.Fprintf(w, "%4d", n)
		}
		fmt.Fprintf(w, "   %s\n", entry.says)
	}
}

// printNotes says of single cards why they were not played, or what else they show.
func printNotes(w io.Writer, rows [][]card) {
	first := true
	for n, l := range libraries {
		for _, row := range rows {
			c := row[n]
			if c.note == "" || c.outcome == failures.Elsewhere && c.failure.Live == "" && c.verdict.Trace == nil {
				continue // that no redis-server is installed is said once, below
			}
			if first {
				fmt.Fprintln(w)
			}
			first = false
			fmt.Fprintf(w, "  %s, %s:\n    %s\n", l.Name, c.failure.ID, c.note)
		}
	}
}

// jsonCard is a card as JSON.
type jsonCard struct {
	Failure  string `json:"failure"`
	Family   string `json:"family"`
	Library  string `json:"library"`
	Version  string `json:"version"`
	Where    string `json:"where"` // world or live
	Outcome  string `json:"outcome"`
	Expected string `json:"expected"`
	Sentence string `json:"sentence"`
	Note     string `json:"note,omitempty"`
	Property string `json:"property"`
	Promise  string `json:"promise"`
	Says     string `json:"says"`
	Link     string `json:"link"`
}

func (c card) asJSON() jsonCard {
	where := "world"
	if c.library.Live {
		where = "live"
	}
	return jsonCard{
		c.failure.ID, string(c.failure.Family), c.library.Name, c.library.version(), where,
		c.outcome.String(), c.want.String(), c.sentence(), c.note,
		string(c.property), string(c.promise.Word), c.promise.Says, c.library.link(c.promise),
	}
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
