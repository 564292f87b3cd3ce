package timeline

import (
	"cmp"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/term"
)

// Beats draws rows without lanes, and returns the lines of each row:
//
//	10s  A  SET K A1 NX PX 30000 → OK  A1, 30s left  mutex.go:89
//
// A row has one line, more if it does not fit, and one for each finding. The columns are aligned over all
// rows, so a caller may print them a few at a time. The rows have their own language.
func Beats(rows []Row, o Options) [][]string {
	at, client, said, state, from := 0, 0, readable, 0, 0
	for _, r := range rows {
		text, after := r.beat()
		at, client = max(at, term.Columns(r.clock())), max(client, term.Columns(r.Event.Client))
		said, state = max(said, term.Columns(text)), max(state, min(term.Columns(after), 26))
		from = max(from, term.Columns(source(r.Event)))
	}
	said = min(said, max(cmp.Or(o.Width, 120)-at-client-state-from-4*gap, readable))
	beats := make([][]string, len(rows))
	for i, r := range rows {
		text, after := r.beat()
		style := term.Style("")
		switch {
		case r.Event.Kind == trace.Slept:
			style = term.Dim
		case r.Lane < 0:
			style = term.Bold
		}
		d := &drawing{Options: o}
		d.print(
			cell{style: term.Dim, width: at, lines: []string{r.clock()}},
			cell{style: term.Bold, width: client, lines: []string{r.Event.Client}},
			cell{style: style, width: said, lines: Fold(text, said)},
			cell{style: r.stateStyle(), width: state, lines: Fold(after, max(state, 1))},
			cell{style: term.Dim, lines: []string{source(r.Event)}})
		d.time = at + client + gap
		for n, f := range r.Findings {
			d.finding(f, r.Found[n].Given)
		}
		beats[i] = strings.Split(strings.TrimSuffix(d.out.String(), "\n"), "\n")
	}
	return beats
}

// beat returns the words of a row, and the keys or orders after it.
func (r Row) beat() (text, after string) {
	switch after = cmp.Or(r.Redis, r.Ledger); {
	case r.Event.Kind == trace.Slept:
		return "⋮ " + r.Text, after
	case r.Text == "": // the keys are the news
		return "▸ " + after, ""
	case r.Lane < 0:
		return "▸ " + r.Text, after
	}
	return r.Text, after
}

// clock returns the time of a row, "" if time only passes.
func (r Row) clock() string {
	if r.Event.Kind == trace.Slept {
		return ""
	}
	return tick(r.At)
}

func (r Row) stateStyle() term.Style {
	if r.Redis == "" {
		return term.Yellow
	}
	return term.Cyan
}

// Row is a row of [Text] as data: the texts of a step, and the state after it. K is the lock's key
// in all texts.
type Row struct {
	*Label
	Text     string // as in the lane
	Says     string // a sentence
	Redis    string // its keys, if they have changed
	Ledger   string
	Orders   []string
	Findings []string
}

// Rows returns the rows of the story.
func (s *Story) Rows() (rows []Row) {
	for l := range s.visible {
		row := Row{Label: l, Text: s.Text(l), Says: s.sentence(l), Redis: s.Redis(l), Ledger: s.LedgerNews(l), Orders: s.orders(l.After.Orders)}
		for _, f := range l.Found {
			row.Findings = append(row.Findings, s.Shorten(f.Sentence(s.language)))
		}
		rows = append(rows, row)
	}
	return rows
}
