package timeline

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Options of a drawing.
type Options struct {
	Color bool // ANSI colours
	Width int  // of the terminal; 0 = 120
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
			at = short(r.at.Round(time.Millisecond))
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
		d.widths[i] = max(utf8.RuneCountInString(lane), narrowest)
	}
	for _, r := range d.rows {
		d.time = max(d.time, utf8.RuneCountInString(short(r.at.Round(time.Millisecond))))
		d.redisW = max(d.redisW, utf8.RuneCountInString(r.redis))
		d.orders = max(d.orders, utf8.RuneCountInString(r.ledger))
		if r.lane >= 0 {
			d.widths[r.lane] = max(d.widths[r.lane], utf8.RuneCountInString(r.text))
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
	cells := []string{pad("time", d.time)}
	for i, lane := range d.lanes {
		cells = append(cells, pad("  "+lane, d.widths[i]+2))
	}
	redis := "Redis"
	if d.key != "" {
		redis = "Redis: K = " + d.key
	}
	if d.ledger {
		cells = append(cells, pad("Redis", d.redisW), pad("ledger", d.orders))
	} else {
		cells = append(cells, pad("Redis", d.redisW))
	}
	if d.key != "" {
		fmt.Fprintf(&d.out, "%s\n", d.paint(dim, strings.TrimPrefix(redis, "Redis: ")))
	}
	line := strings.TrimRight(strings.Join(cells, "  "), " ")
	fmt.Fprintf(&d.out, "%s\n%s\n", d.paint(bold, line), d.paint(dim, strings.Repeat("─", min(d.Width, d.total()))))
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
			cells[i] = wrap(r.text, d.widths[i])
			lines = max(lines, len(cells[i]))
		}
	}
	redis := wrap(r.redis, d.redisW)
	orders := wrap(r.ledger, max(d.orders, 1))
	lines = max(lines, len(redis), len(orders))
	for n := range lines {
		var b strings.Builder
		b.WriteString(d.paint(dim, pad(first(at, n), d.time)))
		for i := range d.lanes {
			b.WriteString("  " + d.bar(r.marks[i]) + " " + pad(line(cells[i], n), d.widths[i]))
		}
		b.WriteString("  " + d.paint(cyan, pad(line(redis, n), d.redisW)))
		if d.ledger {
			b.WriteString("  " + d.paint(yellow, pad(line(orders, n), d.orders)))
		}
		if n == 0 && r.source != "" {
			b.WriteString("  " + d.paint(dim, r.source))
		}
		d.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	for _, f := range r.found {
		fmt.Fprintf(&d.out, "%s%s\n", strings.Repeat(" ", d.time+gap), d.paint(red, fmt.Sprintf("✗ %s: %s", f.Monitor, f.Text)))
	}
}

// server draws what happened to Redis itself, across all lanes.
func (d *drawing) server(at string, r row) {
	lanes := 0
	for _, w := range d.widths {
		lanes += gap + 2 + w
	}
	text := d.paint(bold, pad("  ▸ "+r.text, lanes))
	d.out.WriteString(strings.TrimRight(d.paint(dim, pad(at, d.time))+text+"  "+d.paint(cyan, r.redis), " ") + "\n")
}

func (d *drawing) pause(at string, r row) {
	var b strings.Builder
	b.WriteString(d.paint(dim, pad(at, d.time)))
	for i := range d.lanes {
		text := ""
		if i == 0 {
			text = "⋮ " + r.text
		}
		b.WriteString("  " + d.bar(r.marks[i]) + " " + d.paint(dim, pad(text, d.widths[i])))
	}
	d.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}

func (d *drawing) bar(m mark) string {
	switch m {
	case inside:
		return d.paint(green, "│")
	case together:
		return d.paint(red, "║")
	case stopped:
		return d.paint(yellow, "░")
	}
	return " "
}

type color string

const (
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	cyan   color = "36"
)

func (d *drawing) paint(c color, s string) string {
	if !d.Color || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

func pad(s string, width int) string {
	if n := utf8.RuneCountInString(s); n < width {
		return s + strings.Repeat(" ", width-n)
	}
	return s
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

// wrap breaks text at spaces into lines of at most width; a longer word is cut,
// and an arrow stays with what it points to.
func wrap(text string, width int) []string {
	var lines []string
	current := ""
	for _, word := range words(text) {
		for utf8.RuneCountInString(word) > width {
			if current != "" {
				lines, current = append(lines, current), ""
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		switch {
		case current == "":
			current = word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) <= width:
			current += " " + word
		default:
			lines, current = append(lines, current), word
		}
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// words are the parts of a text between which a line may be broken.
func words(text string) []string {
	var parts []string
	for _, word := range strings.Fields(text) {
		if last := len(parts) - 1; last >= 0 && parts[last] == "→" {
			parts[last] += " " + word
		} else {
			parts = append(parts, word)
		}
	}
	return parts
}
