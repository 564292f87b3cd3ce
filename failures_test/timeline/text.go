package timeline

import (
	"fmt"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

// Options of a drawing.
type Options struct {
	Color term.Color
	Width int // of the terminal; 0 = 120
}

// Text draws a trace for a terminal. Time runs down. A bar at the left edge of a
// lane shows that the client is inside the lock; it is doubled, and red, while
// two are.
func Text(trace *world.Trace, found []oracle.Finding, o Options) string {
	if o.Width == 0 {
		o.Width = 120
	}
	p := newPicture(trace, found)
	d := &drawing{Options: o, picture: p}
	d.measure()
	d.head()
	before := time.Duration(-1)
	for _, r := range p.rows {
		if r.isEmpty() {
			continue
		}
		at := ""
		if r.at != before {
			at = term.Clock(r.at)
			before = r.at
		}
		d.row(at, r)
	}
	return d.out.String()
}

type drawing struct {
	Options
	*picture
	out    strings.Builder
	time   int // widths of the columns
	widths []int
	redisW int
	orders int
}

const (
	narrowest = 14
	gap       = 2
)

// measure gives each column what it needs, and takes from the widest until the
// picture fits.
func (d *drawing) measure() {
	d.time, d.redisW = 4, len("Redis")
	d.widths = make([]int, len(d.lanes))
	for i, lane := range d.lanes {
		d.widths[i] = max(term.Columns(lane), narrowest)
	}
	for _, r := range d.rows {
		d.time = max(d.time, term.Columns(term.Clock(r.at)))
		d.redisW = max(d.redisW, term.Columns(r.redis))
		d.orders = max(d.orders, term.Columns(r.ledger))
		if r.lane >= 0 {
			d.widths[r.lane] = max(d.widths[r.lane], term.Columns(r.text))
		}
	}
	if d.ledger {
		d.orders = max(d.orders, len("ledger"))
	}
	d.redisW = min(d.redisW, 26)
	d.orders = min(d.orders, 20)
	for d.total() > d.Width {
		widest := 0
		for i := range d.widths {
			if d.widths[i] > d.widths[widest] {
				widest = i
			}
		}
		if d.widths[widest] <= narrowest {
			return
		}
		d.widths[widest]--
	}
}

const sourceWidth = len("watchdog.go:100")

func (d *drawing) total() int {
	total := d.time + gap + d.redisW + gap + sourceWidth
	for _, w := range d.widths {
		total += w + 2 + gap // the bar and a space
	}
	if d.ledger {
		total += d.orders + gap
	}
	return total
}

func (d *drawing) head() {
	cells := []string{term.Pad("time", d.time)}
	for i, lane := range d.lanes {
		cells = append(cells, term.Pad("  "+lane, d.widths[i]+2))
	}
	redis := "Redis"
	if d.key != "" {
		redis = "Redis: K = " + d.key
	}
	if d.ledger {
		cells = append(cells, term.Pad("Redis", d.redisW), term.Pad("ledger", d.orders))
	} else {
		cells = append(cells, term.Pad("Redis", d.redisW))
	}
	if d.key != "" {
		fmt.Fprintf(&d.out, "%s\n", d.Color.Paint(term.Dim, strings.TrimPrefix(redis, "Redis: ")))
	}
	line := strings.TrimRight(strings.Join(cells, "  "), " ")
	fmt.Fprintf(&d.out, "%s\n%s\n", d.Color.Paint(term.Bold, line), d.Color.Paint(term.Dim, strings.Repeat("─", min(d.Width, d.total()))))
}

// row draws a row, on as many lines as its longest cell needs.
func (d *drawing) row(at string, r row) {
	if r.pause {
		d.pause(at, r)
		return
	}
	if r.lane < 0 && r.text != "" {
		d.server(at, r)
		return
	}
	cells := make([][]string, len(d.lanes))
	lines := 1
	for i := range d.lanes {
		if i == r.lane {
			cells[i] = fold(r.text, d.widths[i])
			lines = max(lines, len(cells[i]))
		}
	}
	redis := fold(r.redis, d.redisW)
	orders := fold(r.ledger, max(d.orders, 1))
	lines = max(lines, len(redis), len(orders))
	for n := range lines {
		var b strings.Builder
		b.WriteString(d.Color.Paint(term.Dim, term.Pad(first(at, n), d.time)))
		for i := range d.lanes {
			b.WriteString("  " + d.bar(r.marks[i]) + " " + term.Pad(line(cells[i], n), d.widths[i]))
		}
		b.WriteString("  " + d.Color.Paint(term.Cyan, term.Pad(line(redis, n), d.redisW)))
		if d.ledger {
			b.WriteString("  " + d.Color.Paint(term.Yellow, term.Pad(line(orders, n), d.orders)))
		}
		if n == 0 && r.source != "" {
			b.WriteString("  " + d.Color.Paint(term.Dim, r.source))
		}
		d.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	for _, f := range r.found {
		fmt.Fprintf(&d.out, "%s%s\n", strings.Repeat(" ", d.time+gap), d.Color.Paint(term.Red, fmt.Sprintf("✗ %s: %s", f.Monitor, f.Text)))
	}
}

// server draws what happened to Redis itself, across all lanes.
func (d *drawing) server(at string, r row) {
	lanes := 0
	for _, w := range d.widths {
		lanes += gap + 2 + w
	}
	text := d.Color.Paint(term.Bold, term.Pad("  ▸ "+r.text, lanes))
	d.out.WriteString(strings.TrimRight(d.Color.Paint(term.Dim, term.Pad(at, d.time))+text+"  "+d.Color.Paint(term.Cyan, r.redis), " ") + "\n")
}

func (d *drawing) pause(at string, r row) {
	var b strings.Builder
	b.WriteString(d.Color.Paint(term.Dim, term.Pad(at, d.time)))
	for i := range d.lanes {
		text := ""
		if i == 0 {
			text = "⋮ " + r.text
		}
		b.WriteString("  " + d.bar(r.marks[i]) + " " + d.Color.Paint(term.Dim, term.Pad(text, d.widths[i])))
	}
	d.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}

func (d *drawing) bar(m mark) string {
	switch m {
	case inside:
		return d.Color.Paint(term.Green, "│")
	case together:
		return d.Color.Paint(term.Red, "║")
	case stopped:
		return d.Color.Paint(term.Yellow, "░")
	}
	return " "
}

func first(s string, n int) string {
	if n == 0 {
		return s
	}
	return ""
}

func line(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return ""
}

// fold breaks a cell's text into lines. An arrow stays with what it points to.
func fold(text string, width int) []string {
	return term.Fold(strings.ReplaceAll(text, "→ ", "→"+term.NoBreak), width)
}
