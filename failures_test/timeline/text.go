package timeline

import (
	"cmp"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Options of a drawing.
type Options struct {
	Color    term.Color
	Width    int // of the terminal; 0 = 120
	Language i18n.Language
}

// Text draws a trace for a terminal. Time runs down. A bar at the left edge of a
// lane shows that the client is inside the lock; it is doubled, and red, while
// two are.
func Text(tr *trace.Trace, found []oracle.Finding, o Options) string {
	if o.Width == 0 {
		o.Width = 120
	}
	d := &drawing{Options: o, Story: NewStory(tr, found, o.Language)}
	rows := d.Rows()
	d.measure(rows)
	d.head()
	before := time.Duration(-1)
	for _, r := range rows {
		at := ""
		if r.At != before && r.Event.Kind != trace.Slept {
			at, before = tick(r.At), r.At
		}
		d.row(r, at)
	}
	return d.out.String()
}

type drawing struct {
	Options
	*Story
	out            strings.Builder
	time           int   // the widths of the columns
	widths         []int // of the lanes
	redisW, orders int
	source         int // 0: sources are printed below their commands
}

const (
	gap       = 2
	readable  = 14 // if a lane is narrower, sources go below the commands
	narrowest = 9
)

var (
	timeColumn   = i18n.New("time")
	ledgerColumn = i18n.New("ledger")
)

// measure gives each column the width it needs, and then narrows the widest ones until
// the picture fits, or all have the least width.
func (d *drawing) measure(rows []Row) {
	d.time, d.redisW, d.source = term.Columns(timeColumn.Localize(d.Language)), term.Columns(d.redisHead()), gap+len("watchdog.go:100")
	for _, lane := range d.Clients {
		d.widths = append(d.widths, max(term.Columns(d.Head(lane)), readable))
	}
	for _, r := range rows {
		d.time = max(d.time, term.Columns(tick(r.At)))
		d.redisW = max(d.redisW, term.Columns(r.Redis))
		d.orders = max(d.orders, term.Columns(r.Ledger))
		d.source = max(d.source, gap+term.Columns(source(r.Event)))
		if r.Lane >= 0 && r.Event.Kind != trace.Slept {
			d.widths[r.Lane] = max(d.widths[r.Lane], term.Columns(r.Text))
		}
	}
	if d.Ledger {
		d.orders = max(d.orders, term.Columns(ledgerColumn.Localize(d.Language)))
	}
	d.redisW, d.orders = min(d.redisW, 26), min(d.orders, 20)
	for most := d.Width; most >= narrowest && d.total() > d.Width; most-- {
		if most < readable {
			d.source = 0
		}
		for i, width := range d.widths {
			if d.total() > d.Width {
				d.widths[i] = min(width, most)
			}
		}
		d.redisW, d.orders = min(d.redisW, most), min(d.orders, most)
	}
}

// redisHead returns the heading of the keys: Redis, or the names of several servers.
func (d *drawing) redisHead() string { return cmp.Or(strings.Join(d.Bars, term.NoBreak), "Redis") }

// lanesWidth is the width of all lanes, each with its bar and a space.
func (d *drawing) lanesWidth() (all int) {
	for _, w := range d.widths {
		all += gap + 2 + w
	}
	return all
}

func (d *drawing) total() int {
	total := d.time + d.lanesWidth() + gap + d.redisW + d.source
	if d.Ledger {
		total += d.orders + gap
	}
	return total
}

// cell is the lines of a column in a row.
type cell struct {
	style term.Style
	width int
	bar   string // in front of each line
	lines []string
}

// print prints a row, on as many lines as its longest cell needs.
func (d *drawing) print(cells ...cell) {
	height := 1
	for _, c := range cells {
		height = max(height, len(c.lines))
	}
	for n := range height {
		var texts []string
		for _, c := range cells {
			text := ""
			if n < len(c.lines) {
				text = c.lines[n]
			}
			texts = append(texts, c.bar+d.Color.Paint(c.style, term.Pad(text, c.width)))
		}
		d.out.WriteString(strings.TrimRight(strings.Join(texts, "  "), " ") + "\n")
	}
}

func (d *drawing) head() {
	if d.Key != "" {
		keys := "K = " + d.Key
		if d.Other != "" {
			keys += ", L = " + d.Other
		}
		d.print(cell{style: term.Dim, lines: []string{keys}})
	}
	cells := []cell{{style: term.Bold, width: d.time, lines: []string{timeColumn.Localize(d.Language)}}}
	for i, lane := range d.Clients {
		cells = append(cells, cell{term.Bold, d.widths[i], "  ", Fold(d.Head(lane), d.widths[i])})
	}
	cells = append(cells, cell{style: term.Bold, width: d.redisW, lines: []string{d.redisHead()}})
	if d.Ledger {
		cells = append(cells, cell{style: term.Bold, lines: []string{ledgerColumn.Localize(d.Language)}})
	}
	d.print(cells...)
	d.print(cell{style: term.Dim, lines: []string{strings.Repeat("─", min(d.Width, d.total()))}})
}

// row draws a row. Events of Redis itself go across all lanes.
func (d *drawing) row(r Row, at string) {
	lane, said, from, style := r.Lane, r.Text, source(r.Event), term.Style("")
	if r.Event.Kind == trace.Slept {
		lane, said, style = 0, "⋮ "+said, term.Dim
	}
	cells := []cell{{style: term.Dim, width: d.time, lines: []string{at}}}
	if lane < 0 && said != "" {
		width := d.lanesWidth() - gap
		cells = append(cells, cell{style: term.Bold, width: width, lines: Fold("▸ "+said, width)})
	} else {
		for i, width := range d.widths {
			c := cell{style: style, width: width, bar: d.bar(r.After.Clients[i]) + " "}
			if i == lane {
				c.lines = Fold(said, width)
			}
			if i == lane && d.source == 0 {
				c.lines, from = append(c.lines, Fold(from, width)...), ""
			}
			cells = append(cells, c)
		}
	}
	cells = append(cells, cell{style: term.Cyan, width: d.redisW, lines: Fold(r.Redis, d.redisW)})
	if d.Ledger {
		cells = append(cells, cell{style: term.Yellow, width: d.orders, lines: Fold(r.Ledger, max(d.orders, 1))})
	}
	d.print(append(cells, cell{style: term.Dim, lines: []string{from}})...)
	d.findings(r)
}

// findings draws the findings of a row below it.
func (d *drawing) findings(r Row) {
	for _, f := range r.Found {
		d.finding(f.Sentence(d.Language), f.Given)
	}
}

// finding draws a finding behind the column of the time.
func (d *drawing) finding(sentence string, isGiven bool) {
	style := term.Red
	if isGiven {
		style = term.Dim
	}
	d.print(cell{width: d.time}, cell{style: style, lines: term.Wrap(sentence, max(d.Width-d.time-gap, 26))})
}

func (d *drawing) bar(c Client) string {
	switch {
	case c.Process.Frozen:
		return d.Color.Paint(term.Yellow, "░")
	case c.Inside == Alone:
		return d.Color.Paint(term.Green, "│")
	case c.Inside != Outside:
		return d.Color.Paint(term.Red, "║")
	}
	return " "
}

// Fold breaks a cell's text into lines. No line ends with an arrow.
func Fold(text string, width int) []string {
	return term.Fold(strings.ReplaceAll(text, "→ ", "→"+term.NoBreak), width)
}
