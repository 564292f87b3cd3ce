package timeline

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Options of a drawing.
type Options struct {
	Color    term.Color
	Width    int // of the terminal; 0 = 120
	Language i18n.Language
	Aside    []oracle.Monitor // rules whose findings are no part of an exercise
}

var noPart = i18n.New("{finding} (not part of this exercise)")

// Text draws a trace for a terminal. Time runs down. A bar at the left edge of a
// lane shows that the client is inside the lock; it is doubled, and red, while
// two are.
func Text(trace *world.Trace, found []oracle.Finding, o Options) string {
	if o.Width == 0 {
		o.Width = 120
	}
	d := &drawing{Options: o, Story: NewStory(trace, found, o.Language)}
	before := time.Duration(-1)
	for l := range d.told {
		r := row{Label: l, text: d.Text(l), redis: d.Redis(l), ledger: d.LedgerNews(l), source: source(l.Event)}
		if l.At != before && l.Event.Kind != world.Slept {
			r.at, before = tick(l.At), l.At
		}
		d.rows = append(d.rows, r)
	}
	d.measure()
	d.head()
	for _, r := range d.rows {
		d.row(r)
	}
	return d.out.String()
}

// row is a label as a terminal shows it.
type row struct {
	*Label
	at, text, redis, ledger, source string
}

type drawing struct {
	Options
	*Story
	rows           []row
	out            strings.Builder
	time           int   // the widths of the columns
	widths         []int // of the lanes
	redisW, orders int
	source         int // 0: a source stands below its command
}

const (
	gap       = 2
	readable  = 14 // a lane in which sources need not stand below the commands
	narrowest = 9
)

var (
	timeColumn   = i18n.New("time")
	ledgerColumn = i18n.New("ledger")
)

// measure gives each column what it needs, and takes from the widest until the
// picture fits, or nothing is left to take.
func (d *drawing) measure() {
	d.time, d.redisW, d.source = term.Columns(timeColumn.Localize(d.Language)), len("Redis"), gap+len("watchdog.go:100")
	for _, lane := range d.Lanes {
		d.widths = append(d.widths, max(term.Columns(d.Head(lane)), readable))
	}
	for _, r := range d.rows {
		d.time = max(d.time, term.Columns(r.at))
		d.redisW = max(d.redisW, term.Columns(r.redis))
		d.orders = max(d.orders, term.Columns(r.ledger))
		d.source = max(d.source, gap+term.Columns(r.source))
		if r.Lane >= 0 && r.Event.Kind != world.Slept {
			d.widths[r.Lane] = max(d.widths[r.Lane], term.Columns(r.text))
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
			d.widths[i] = min(width, most)
		}
		d.redisW, d.orders = min(d.redisW, most), min(d.orders, most)
	}
}

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

// print prints cells in a line.
func (d *drawing) print(cells ...string) {
	d.out.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
}

func (d *drawing) head() {
	cells := []string{term.Pad(timeColumn.Localize(d.Language), d.time)}
	for i, lane := range d.Lanes {
		cells = append(cells, term.Pad("  "+d.Head(lane), d.widths[i]+2))
	}
	cells = append(cells, term.Pad("Redis", d.redisW))
	if d.Ledger {
		cells = append(cells, ledgerColumn.Localize(d.Language))
	}
	if d.Key != "" {
		d.print(d.Color.Paint(term.Dim, "K = "+d.Key))
	}
	d.print(d.Color.Paint(term.Bold, strings.TrimRight(strings.Join(cells, "  "), " ")))
	d.print(d.Color.Paint(term.Dim, strings.Repeat("─", min(d.Width, d.total()))))
}

// row draws a row, on as many lines as its longest cell needs. What happens to Redis
// itself goes across all lanes; time that passes is a row of its own.
func (d *drawing) row(r row) {
	said := term.Style("")
	switch {
	case r.Event.Kind == world.Slept:
		r.Lane, r.text, said = 0, "⋮ "+r.text, term.Dim
	case r.Lane < 0 && r.text != "":
		across, redis := Fold("▸ "+r.text, d.lanesWidth()-gap), Fold(r.redis, d.redisW)
		for n := range max(len(across), len(redis)) {
			text := d.Color.Paint(term.Bold, term.Pad("  "+line(across, n), d.lanesWidth()))
			d.print(d.cell(term.Dim, line([]string{r.at}, n), d.time)+text, d.Color.Paint(term.Cyan, line(redis, n)))
		}
		d.findings(r)
		return
	}
	var text []string
	if r.Lane >= 0 {
		text = Fold(r.text, d.widths[r.Lane])
		if d.source == 0 {
			text, r.source = append(text, Fold(r.source, d.widths[r.Lane])...), ""
		}
	}
	redis, orders := Fold(r.redis, d.redisW), Fold(r.ledger, max(d.orders, 1))
	for n := range max(1, len(text), len(redis), len(orders)) {
		cells := []string{d.cell(term.Dim, line([]string{r.at}, n), d.time)}
		for i, width := range d.widths {
			of := text
			if i != r.Lane {
				of = nil
			}
			cells = append(cells, d.bar(r.After, i)+" "+d.cell(said, line(of, n), width))
		}
		cells = append(cells, d.cell(term.Cyan, line(redis, n), d.redisW))
		if d.Ledger {
			cells = append(cells, d.cell(term.Yellow, line(orders, n), d.orders))
		}
		d.print(append(cells, d.cell(term.Dim, line([]string{r.source}, n), 0))...)
	}
	d.findings(r)
}

// findings draws below a row what was found there.
func (d *drawing) findings(r row) {
	for _, f := range r.Found {
		text, style := f.Sentence(d.Language), term.Red
		if slices.Contains(d.Aside, f.Monitor) {
			text, style = noPart.Localize(d.Language, "finding", text), term.Dim
		}
		for _, said := range term.Wrap(text, max(d.Width-d.time-gap, 26)) {
			d.print(strings.Repeat(" ", d.time), d.Color.Paint(style, said))
		}
	}
}

// cell is a text of a column in its style; "" for none.
func (d *drawing) cell(style term.Style, text string, width int) string {
	text = term.Pad(text, width)
	if style == "" {
		return text
	}
	return d.Color.Paint(style, text)
}

func (d *drawing) bar(m State, lane int) string {
	switch {
	case m.Process[lane] == 's':
		return d.Color.Paint(term.Yellow, "░")
	case m.Inside[lane] == 'i':
		return d.Color.Paint(term.Green, "│")
	case m.Inside[lane] != '-':
		return d.Color.Paint(term.Red, "║")
	}
	return " "
}

func line(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return ""
}

// Fold breaks a cell's text into lines. An arrow stays with what it points to.
func Fold(text string, width int) []string {
	return term.Fold(strings.ReplaceAll(text, "→ ", "→"+term.NoBreak), width)
}
