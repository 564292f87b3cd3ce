package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// verdict says whether a target is met. A row without a target has none.
type verdict string

const (
	met    verdict = "met"
	missed verdict = "missed"
)

func verdictOf(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// row is one line of the table.
type row struct {
	Number  int     `json:"row"`
	What    string  `json:"what"`
	Ours    string  `json:"stage6"`
	Beside  string  `json:"beside,omitempty"`
	Target  string  `json:"target,omitempty"`
	Verdict verdict `json:"verdict,omitempty"`
}

// printTable writes the rows as a table, each subject's number once.
func printTable(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join([]string{"", "what", "stage 6", "beside it", "target", "verdict"}, "\t"))
	last := 0
	for _, r := range rows {
		number := ""
		if r.Number != last {
			number, last = fmt.Sprint(r.Number), r.Number
		}
		fmt.Fprintln(table, strings.Join([]string{number, r.What, r.Ours, r.Beside, r.Target, string(r.Verdict)}, "\t"))
	}
	return table.Flush()
}

// printJSON writes the rows as one JSON array.
func printJSON(w io.Writer, rows []row) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(rows)
}

// tally counts the rows by verdict.
func tally(rows []row) map[verdict]int {
	counted := map[verdict]int{}
	for _, r := range rows {
		counted[r.Verdict]++
	}
	return counted
}
