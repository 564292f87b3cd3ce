package timeline

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
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
	Full      string // the whole command, where the text is shorter
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
func Rows(trace *world.Trace, found []oracle.Finding, language texts.Language) (rows []Row) {
	s := newStory(trace, found, language)
	for l := range s.told {
		row := Row{
			Event: l.event, Last: l.last, Lane: l.lane, At: l.at, Until: l.until,
			Text: s.text(l), Says: s.sentence(l), Full: s.full(l), Redis: s.redis(l), Ledger: s.ledgerNews(l),
			Inside: l.after.inside, State: l.after.state, Keys: slices.Clone(l.after.keys), KeysAt: l.after.keysAt, Orders: s.orders(l.after.orders),
		}
		for i := range row.Keys {
			row.Keys[i].Name, row.Keys[i].Value = s.shorten(row.Keys[i].Name), s.shorten(row.Keys[i].Value)
		}
		for _, f := range l.found {
			row.Found = append(row.Found, strings.TrimPrefix(s.shorten(f.Sentence(language)), "✗ "))
		}
		rows = append(rows, row)
	}
	return rows
}

// full is the whole command or answer of a label, "" where its text says all of it.
func (s *story) full(l *label) string {
	switch l.event.Kind {
	case world.Stored:
		if s.reply(l.event) != l.event.Reply {
			return l.event.Reply
		}
	case world.Executed, world.Refused:
		if whole := s.shorten(l.event.Line()); !strings.Contains(s.text(l), whole) {
			return whole
		}
	}
	return ""
}

// Clock returns what the time column says of what lasts from at to until: one time or two.
func Clock(at, until time.Duration) []string {
	text := []string{tick(at)}
	if end := tick(until); end != text[0] {
		text = append(text, "… "+end)
	}
	return text
}

// tick is a time, the later the rounder.
func tick(at time.Duration) string {
	switch {
	case at > time.Minute:
		return term.Short(at.Round(time.Second))
	case at > 10*time.Second:
		return term.Short(at.Round(100 * time.Millisecond))
	}
	return term.Clock(at)
}
