package timeline

import (
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Row is a row of [Text] as data: what a step of a trace says, and the state after it. In all
// texts K is the lock's key.
type Row struct {
	Event     world.Event // what it is about
	Last      int         // the index of its last event
	Lane      int         // -1: no client's
	At, Until time.Duration
	Text      string // as in the lane
	Says      string // a sentence
	Redis     string // what is new there
	Ledger    string
	Inside    string // a letter for each lane: - outside, i inside, x against the rule with another, e excused with another
	State     string // a letter for each lane: - runs, s stands still, d dead, n has no network
	Keys      []world.Key
	KeysAt    time.Duration // when the leases of Keys were as they are there
	Orders    []string
	Found     []string
}

// Rows returns the rows of a trace.
func Rows(trace *world.Trace, found []oracle.Finding, language i18n.Language) []Row {
	return NewStory(trace, found, language).Rows()
}

// Rows returns the rows of the story.
func (s *Story) Rows() (rows []Row) {
	for l := range s.told {
		row := Row{
			Event: l.Event, Last: l.last, Lane: l.Lane, At: l.At, Until: l.Until,
			Text: s.Text(l), Says: s.sentence(l), Redis: s.Redis(l), Ledger: s.LedgerNews(l),
			Inside: l.After.Inside, State: l.After.Process, Keys: l.After.Keys, KeysAt: l.After.KeysAt, Orders: s.orders(l.After.Orders),
		}
		for _, f := range l.Found {
			row.Found = append(row.Found, strings.TrimPrefix(s.Shorten(f.Sentence(s.language)), "✗ "))
		}
		rows = append(rows, row)
	}
	return rows
}
