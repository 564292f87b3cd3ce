package timeline

import (
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Row is a row of [Text] as data: what a step of a trace says, and the state after it. In all
// texts K is the lock's key.
type Row struct {
	*Label
	Text     string // as in the lane
	Says     string // a sentence
	Redis    string // what is new there
	Ledger   string
	Orders   []string
	Findings []string
}

// Rows returns the rows of a trace.
func Rows(trace *world.Trace, found []oracle.Finding, language i18n.Language) []Row {
	return NewStory(trace, found, language).Rows()
}

// Rows returns the rows of the story.
func (s *Story) Rows() (rows []Row) {
	for l := range s.told {
		row := Row{Label: l, Text: s.Text(l), Says: s.sentence(l), Redis: s.Redis(l), Ledger: s.LedgerNews(l), Orders: s.orders(l.After.Orders)}
		for _, f := range l.Found {
			row.Findings = append(row.Findings, strings.TrimPrefix(s.Shorten(f.Sentence(s.language)), "✗ "))
		}
		rows = append(rows, row)
	}
	return rows
}
