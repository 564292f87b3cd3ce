package timeline

import (
	"cmp"
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
	Aside    []oracle.Monitor // rules that are not part of an exercise
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
	rows := d.Rows()
	d.measure(rows)
	d.head()
	before := time.Duration(-1)
	for _, r := range rows {
		at := ""
		if r.At != before && r.Event.Kind != world.Slept {
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
	for _, lane := range d.Lanes {
		d.widths = append(d.widths, max(term.Columns(d.Head(lane)), readable))
	}
	for _, r := range rows {
		d.time = max(d.time, term.Columns(tick(r.At)))
		d.redisW = max(d.redisW, term.Columns(r.Redis))
		d.orders = max(d.orders, term.Columns(r.Ledger))
		d.source = max(d.source, gap+term.Columns(source(r.Event)))
		if r.Lane >= 0 && r.Event.Kind != world.Slept {
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
func (d *drawing) redisHead() string { return cmp.Or(strings.Join(d.Servers, term.NoBreak), "Redis") }

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
	var heads [][]string
	most := 1
	for i, lane := range d.Lanes {
		heads = append(heads, Fold(d.Head(lane), d.widths[i]))
		most = max(most, len(heads[i]))
	}
	if d.Key != "" {
		keys := "K = " + d.Key
		if d.Other != "" {
			keys += ", L = " + d.Other
		}
		d.print(d.Color.Paint(term.Dim, keys))
	}
	for n := range most {
		cells := []string{term.Pad(line([]string{timeColumn.Localize(d.Language)}, n), d.time)}
		for i, head := range heads {
			cells = append(cells, term.Pad("  "+line(head, n), d.widths[i]+2))
		}
		cells = append(cells, term.Pad(line([]string{d.redisHead()}, n), d.redisW))
		if d.Ledger {
			cells = append(cells, line([]string{ledgerColumn.Localize(d.Language)}, n))
		}
		d.print(d.Color.Paint(term.Bold, strings.TrimRight(strings.Join(cells, "  "), " ")))
	}
	d.print(d.Color.Paint(term.Dim, strings.Repeat("─", min(d.Width, d.total()))))
}

// row draws a row, on as many lines as its longest cell needs. Events of Redis itself
// go across all lanes, and so does time that passes.
func (d *drawing) row(r Row, at string) {
	lane, said, from, style := r.Lane, r.Text, source(r.Event), term.Style("")
	across, width := false, d.lanesWidth()-gap
	switch {
	case r.Event.Kind == world.Slept:
		lane, said, style = 0, "⋮ "+said, term.Dim
	case lane < 0 && said != "":
		across, said = true, "▸ "+said
	}
	if lane >= 0 {
		width = d.widths[lane]
	}
	text := Fold(said, width)
	if lane >= 0 && d.source == 0 {
		text, from = append(text, Fold(from, width)...), ""
	}
	redis, orders := Fold(r.Redis, d.redisW), Fold(r.Ledger, max(d.orders, 1))
	for n := range max(1, len(text), len(redis), len(orders)) {
		cells := []string{d.cell(term.Dim, line([]string{at}, n), d.time)}
		if across {
			cells = append(cells, d.cell(term.Bold, line(text, n), d.lanesWidth()-gap))
		} else {
			for i, width := range d.widths {
				said := ""
				if i == lane {
					said = line(text, n)
				}
				cells = append(cells, d.bar(r.After, i)+" "+d.cell(style, said, width))
			}
		}
		cells = append(cells, d.cell(term.Cyan, line(redis, n), d.redisW))
		if d.Ledger {
			cells = append(cells, d.cell(term.Yellow, line(orders, n), d.orders))
		}
		d.print(append(cells, d.cell(term.Dim, line([]string{from}, n), 0))...)
	}
	d.findings(r)
}

// findings draws the findings of a row below it.
func (d *drawing) findings(r Row) {
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

// cell returns a padded text in a style; "" for none.
func (d *drawing) cell(style term.Style, text string, width int) string {
	return d.Color.Paint(style, term.Pad(text, width))
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

// Fold breaks a cell's text into lines. No line ends with an arrow.
func Fold(text string, width int) []string {
	return term.Fold(strings.ReplaceAll(text, "→ ", "→"+term.NoBreak), width)
}
