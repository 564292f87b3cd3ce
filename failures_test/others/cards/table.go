package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/timeline"
)

// printCards plays every failure on every library, and prints the table.
func printCards(w io.Writer, e *examiner) error {
	began, runs := time.Now(), 0
	var cards []card
	for _, l := range libraries {
		more, err := e.examine(l, failures.All...)
		if err != nil {
			return err
		}
		cards = append(cards, more...)
	}
	for _, c := range cards {
		if c.verdict.Trace != nil {
			runs++
		}
	}
	printTable(w, cards)
	fmt.Fprintf(w, "\n  %d runs in %.1f s; the judge reads commands, keys and answers, and never asks the library\n",
		runs, time.Since(began).Seconds())
	if e.without != nil {
		fmt.Fprintf(w, "  live, not played: %v\n", e.without)
	}
	fmt.Fprint(w, "\nTry next:\n"+
		"  go run ./cards show deadline-in-flight redsync   the failure, step by step, and the promise\n"+
		"  go run ./cards defects                           what was said of these libraries: reproduced or refuted\n")
	return surprises(cards)
}

// show prints one card, with the timeline of the library's code.
func show(w io.Writer, e *examiner, f failures.Failure, l library) error {
	cards, err := e.examine(l, f)
	if err != nil {
		return err
	}
	c := cards[0]
	fmt.Fprintf(w, "%s: %s\n%s\n\n", f.ID, f.Title, f.Story)
	fmt.Fprintf(w, "%s %s: %s\n", l.Name, l.version(), l.Way)
	fmt.Fprintf(w, "  property  %s\n  its word  %s: %s\n", c.about, c.promise().Word, c.promise().Says)
	if link := l.link(c.promise()); link != "" {
		fmt.Fprintf(w, "            %s\n", link)
	}
	fmt.Fprintf(w, "  verdict   %s %s: %s\n", c.sign(), c.outcome, c.sentence())
	if c.note != "" && c.note != c.sentence() {
		fmt.Fprintf(w, "            %s\n", c.note)
	}
	if c.verdict.Trace != nil {
		fmt.Fprintf(w, "\n%s", timeline.Text(c.verdict.Trace, c.verdict.Findings, timeline.Options{}))
	}
	return surprises(cards)
}

// sign is a card's mark in the table.
func (c card) sign() string {
	switch {
	case !c.asExpected():
		return "!"
	case c.outcome == failures.Broken && c.promise().Word == promised:
		return "✗"
	case c.outcome == failures.Broken && c.promise().Word == limited:
		return "l"
	}
	return map[failures.Outcome]string{
		failures.Broken: "x", failures.Safe: "✓", failures.Noticed: "◐", failures.Inherent: "~", failures.Elsewhere: "·",
		failures.NotApplicable: "–", failures.NotTold: "?", failures.NotPlayed: "…",
	}[c.outcome]
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
	{"?", "not told: what the story is about did not happen"},
	{"·", "not played"},
	{"!", "not what its lesson says"},
}

// printTable writes the libraries, a row for each failure, the legend and the notes.
// The cards are those of all failures, library by library.
func printTable(w io.Writer, cards []card) {
	fmt.Fprint(w, "Four libraries, and the failures of a Redis lock\n\n")
	numbers, counts := "", map[string][]int{}
	for n, l := range libraries {
		where := ""
		if l.Live {
			where = "; live"
		}
		fmt.Fprintf(w, "  %d  %-20s  %s%s\n", n+1, l.Name+" "+l.version(), l.Way, where)
		numbers += fmt.Sprintf("  %d", n+1)
	}
	width := 0
	for _, f := range failures.All {
		width = max(width, len(f.ID), len(f.Family)-2)
	}
	var family failures.Family
	for i, f := range failures.All {
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(w, "\n%-*s%s\n", width+2, family, numbers)
		}
		fmt.Fprintf(w, "  %-*s", width, f.ID)
		for n := range libraries {
			sign := cards[n*len(failures.All)+i].sign()
			if counts[sign] == nil {
				counts[sign] = make([]int, len(libraries))
			}
			counts[sign][n]++
			fmt.Fprint(w, "  "+sign)
		}
		fmt.Fprintf(w, "   %s\n", f.Title)
	}
	fmt.Fprintf(w, "\n      %s\n", strings.ReplaceAll(numbers, "  ", "   "))
	for _, entry := range legend {
		if counts[entry.sign] == nil {
			continue
		}
		fmt.Fprintf(w, "  %s   ", entry.sign)
		for _, n := range counts[entry.sign] {
			fmt.Fprintf(w, "%4d", n)
		}
		fmt.Fprintf(w, "   %s\n", entry.says)
	}
	printNotes(w, cards)
}

// printNotes says of single cards why they were not played, or what else they show.
func printNotes(w io.Writer, cards []card) {
	before := "\n"
	for _, c := range cards {
		if c.note != "" && c.note != redisserver.ErrMissing.Error() { // that one is said once, below
			fmt.Fprintf(w, "%s  %s, %s:\n    %s\n", before, c.library.Name, c.failure.ID, c.note)
			before = ""
		}
	}
}
