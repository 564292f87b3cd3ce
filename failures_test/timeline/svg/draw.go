package svg

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/term"
)

// blocks draws which client is inside when, in its own colour, "ov" while there are two,
// "ex" while that is excused. Over that it draws which process is paused.
func (d *drawing) blocks() {
	for _, b := range d.stretches(func(c timeline.Client, lane int) string {
		return map[timeline.Inside]string{timeline.Together: "ov", timeline.Excused: "ex", timeline.Alone: "k" + owner(lane)}[c.Inside]
	}) {
		lane := d.lanes[b.lane]
		bar, width := "i"+owner(b.lane), 6
		switch b.style {
		case "ov":
			bar, width = "ob", 9
		case "ex":
			bar = "eb"
		}
		d.rect(lane.x, b.from, lane.width-8, b.to-b.from, b.style)
		d.rect(lane.x, b.from, width, b.to-b.from, bar)
	}
	for _, b := range d.where("z", func(p trace.Condition) bool { return p.Frozen }) {
		lane := d.lanes[b.lane]
		d.rect(lane.x, b.from, lane.width-8, b.to-b.from, b.style)
	}
}

// lifelines draws whether a client runs, waits, is dead, or has no network.
func (d *drawing) lifelines() {
	for _, b := range d.stretches(func(c timeline.Client, lane int) string {
		switch {
		case c.Process.Dead:
			return ""
		case c.Waits:
			return "w"
		}
		return "l"
	}) {
		d.path(b.style, "M%d %dV%d", d.lanes[b.lane].x+3, b.from, b.to)
	}
	for _, b := range d.where("ct", func(p trace.Condition) bool { return p.Cut && !p.Frozen }) {
		lane := d.lanes[b.lane]
		d.path(b.style, "M%d %dV%d", lane.x+lane.width-10, b.from, b.to)
	}
}

// breaks draws the breaks of the time axis across the whole picture.
func (d *drawing) breaks() {
	right := svgWidth - margin
	const wave = 14
	count := (right - margin) / (2 * wave)
	line := strings.Repeat(fmt.Sprintf("q%d -6 %d 0t%d 0", wave/2, wave, wave), count)
	for _, t := range d.torn {
		y := t + tornStep/2
		d.path("ts", "M%d %d%sv9h-%dz", margin, y-4, line, 2*wave*count)
		d.path("t", "M%d %d%sM%[1]d %[4]d%[3]s", margin, y-4, line, y+5)
	}
}

// texts writes the text and the findings of each label.
func (d *drawing) texts() {
	for _, b := range d.labels {
		x := d.lanes[max(b.Lane, 0)].x + textIn
		_, style := d.Picture(b.Label)
		y := b.y
		for _, line := range b.lines {
			d.text(x, y+13, style, line)
			y += lineStep
		}
		if b.arrows > 0 {
			y = b.arrows + 2*arrowStep + 7
		}
		for _, f := range b.Found {
			y = d.finding(b, y, f)
		}
	}
}

// finding writes a finding, in the lane where it fits, and returns where it ends.
func (d *drawing) finding(b *label, y int, f oracle.Finding) int {
	box, text := "f", "r"
	if f.Given {
		box, text = "fg", "d"
	}
	lines, longest := d.findingLines(f.Sentence(d.caption.Language)), 0
	for _, line := range lines {
		longest = max(longest, term.Columns(line))
	}
	width := int(boldWidth*float64(longest)) + 16
	lane := max(b.Lane, 0)
	for lane > 0 && d.lanes[lane].x+textIn+width > d.redisAt.x-gutter+6 {
		lane--
	}
	x := d.lanes[lane].x + textIn
	d.rect(x, y+2, width, lineStep*len(lines)+7, box)
	for n, line := range lines {
		d.text(x+8, y+18+lineStep*n, text, line)
	}
	return y + lineStep*len(lines) + 11
}

// life is the lock's key from when it is installed until it is gone.
type life struct {
	owner trace.Owner
	bar   column
	fades []fade
}

// fade is how much of its lease a key has left at a height.
type fade struct {
	y    int
	left float64
}

// lives follows the key that a bar shows through the labels.
func (d *drawing) lives(shows bar) (all []*life) {
	var before timeline.State
	var until time.Duration
	shown := func(s timeline.State) []trace.Key {
		return slices.DeleteFunc(slices.Clone(s.Lock), func(k trace.Key) bool { return k.Name != shows.name || k.Server != shows.server })
	}
	fadeTo := func(y int, at time.Duration) {
		for _, key := range shown(before) {
			left := 1.0
			if key.TTL != trace.NoTTL {
				left = min(max(float64(key.TTL-(at-before.KeysAt))/float64(d.Lease), 0), 1)
			}
			k := all[len(all)-1]
			k.fades = append(k.fades, fade{y, left})
		}
	}
	for _, b := range d.labels {
		fadeTo(b.part(1), b.At)
		for _, key := range shown(b.After) {
			if was := shown(before); len(was) == 0 || was[0].Owner != key.Owner {
				all = append(all, &life{owner: key.Owner, bar: shows.column})
			}
		}
		before, until = b.After, b.Until
		fadeTo(b.part(1), until)
	}
	fadeTo(d.end, until)
	return all
}

// part returns the height of a point of the label's arrows: 0 is where they leave the client,
// 1 is at Redis, 2 is back at the client. Without arrows it is the top of the label.
func (b *label) part(part int) int {
	if b.arrows == 0 {
		return b.y
	}
	return b.arrows + 3 + part*arrowStep
}

// keys draws the key in Redis and the texts next to it.
func (d *drawing) keys() {
	middle := d.redisAt.x + barWidth/2
	lives := 0
	for _, shows := range d.bars() {
		d.path("l", "M%d %dV%d", shows.middle(), d.head+30, d.end)
		for _, k := range d.lives(shows) {
			d.life(k, d.id(fmt.Sprint("k", lives)))
			lives++
		}
	}
	var before []string
	for _, b := range d.labels {
		y := b.y + 12
		if b.arrows > 0 {
			y = b.arrows + 17
		}
		if marks := d.Marks(b.After.Lock); len(marks) > 0 && (len(b.Event.Effects) > 0 || b.Event.Kind == trace.Arrived) {
			for n, mark := range marks {
				if mark != timeline.NoKey && (before == nil || before[n] != mark) {
					d.text(middle+n*serverStep, y+3, "k y c", mark)
				}
			}
			before = marks
		} else if news := d.News(b.Label); news != "" {
			for n, line := range d.redisLines(news) {
				d.text(d.redisAt.x+barWidth+6, y+15*n, "k", line)
			}
		}
		for _, f := range b.Found {
			if f.Rule == oracle.WrongDelete || f.Rule == oracle.WrongExtend {
				d.printf("<circle cx=\"%d\" cy=\"%d\" r=\"9\" class=\"xm\"/>\n", middle, b.part(1))
				d.text(middle, b.part(1)+5, "c xt h", "✗")
			}
		}
	}
	if d.Ledger {
		d.orders()
	}
}

// life draws a key as a bar, which fades.
func (d *drawing) life(k *life, id string) {
	from, to := k.fades[0].y, k.fades[len(k.fades)-1].y
	d.printf("<linearGradient id=%q gradientUnits=\"userSpaceOnUse\" x1=\"0\" x2=\"0\" y1=\"%d\" y2=\"%d\">", id, from, to)
	before := -1.0
	for n, f := range k.fades {
		if n+1 < len(k.fades) && f.left == before && k.fades[n+1].left == before {
			continue
		}
		offset := float64(f.y-from) / float64(max(to-from, 1))
		d.printf("<stop offset=\"%.3f\" stop-opacity=\"%.2f\" class=\"s%s\"/>", offset, 0.08+0.92*f.left, owner(slices.Index(d.Clients, k.owner.Client)))
		before = f.left
	}
	d.printf("</linearGradient>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"url(#%s)\" class=\"ko\"/>\n",
		k.bar.x, from, k.bar.width, max(to-from, 3), id)
}

// orders draws the ledger, with duplicate orders in red.
func (d *drawing) orders() {
	d.path("l", "M%d %dV%d", d.ledgerAt.middle(), d.head+30, d.end)
	for _, b := range d.labels {
		if b.Event.Kind != trace.Stored {
			continue
		}
		if b.Event.Answer.Refuses() || b.Event.Answer.AddsNothing() {
			does := refusesOne
			if b.Event.Answer.AddsNothing() {
				does = addsNothing
			}
			d.chip(b.arrows-1, "gb", does.Localize(d.caption.Language, "client", b.Event.Client))
		}
		if d.LedgerNews(b.Label) == "" {
			continue
		}
		var names []string
		for n, o := range b.After.Orders {
			style, text := "i"+owner(slices.Index(d.Clients, o.Client)), d.Order(o)
			if slices.Contains(names, o.Name) {
				style, text = "ob", "✗ "+text
			}
			names = append(names, o.Name)
			d.chip(b.arrows+20*n-1, style, text)
		}
	}
}

func (d *drawing) chip(y int, style, text string) {
	d.rect(d.ledgerAt.x, y, d.ledgerAt.width, 17, style)
	d.text(d.ledgerAt.middle(), y+13, "k e c", text)
}

// arrows draws requests and replies.
func (d *drawing) arrows() {
	first := map[int]*label{} // event → the label that begins with it
	for _, b := range d.labels {
		if b.First >= 0 {
			first[b.First] = b
		}
	}
	for _, b := range d.labels {
		r := b.Request
		if !b.hasArrows() {
			continue
		}
		client, goal := d.lanes[max(b.Lane, 0)].x+6, d.redisAt.x
		if r != nil && r.Ledger {
			goal = d.ledgerAt.x
		}
		broken := client + d.lanes[0].width - 40
		switch {
		case r == nil: // a push
			d.path("a", "M%d %dL%d %d", d.redisAt.x, b.part(0), client, b.part(2))
		case b.Leaves && r.Executed < 0:
			d.broken(client, b.part(0), broken)
		case b.Leaves:
			arrives := first[r.Executed]
			for _, x := range d.goals(arrives, goal) { // of other servers' commands the label that has them draws the arrows
				d.arrow("q", client, b.part(0), x, arrives.part(1), 1)
			}
		case b.Event.Kind == trace.Delivered: // drawn with the label that sent it
		default:
			if left := first[r.Sent]; r.Sent >= 0 && (left == nil || !left.Leaves) {
				for _, x := range d.goals(b, goal) {
					d.arrow("q", client, b.part(0), x, b.part(1), 1)
				}
			}
			got := b
			if !b.Answered {
				got = first[r.Delivered]
			}
			if got == nil {
				d.broken(goal, b.part(1), broken)
			} else {
				for _, x := range d.goals(b, goal) {
					d.arrow("a", x, b.part(1), client, got.part(2), 0)
				}
			}
		}
	}
}

// goals returns where the arrows of a label end: at the bar of each of its servers.
func (d *drawing) goals(b *label, goal int) (all []int) {
	if b.Request.Ledger {
		return []int{goal}
	}
	if len(b.Servers) == 0 {
		return []int{goal + max(0, d.Bar(max(b.First, b.Request.Executed)))*serverStep}
	}
	for _, server := range b.Servers {
		all = append(all, goal+max(0, slices.Index(d.Bars, server))*serverStep)
	}
	return all
}

// arrow draws a message. A late one runs down between the clients and Redis, where it
// crosses no text. Requests and replies have a track each.
func (d *drawing) arrow(style string, x1, y1, x2, y2, track int) {
	if y2-y1 <= 2*arrowStep {
		d.path(style, "M%d %dL%d %d", x1, y1, x2, y2)
		return
	}
	x := d.redisAt.x - gutter + 2 + 8*track
	d.path(style+" late", "M%d %dL%d %dV%dL%d %d", x1, y1, x, y1+arrowStep/2, y2-arrowStep/2, x2, y2)
}

// broken draws an arrow that does not arrive.
func (d *drawing) broken(x1, y1, x2 int) {
	y2 := y1 + arrowStep/2
	d.path("x", "M%d %dL%d %d", x1, y1, x2, y2)
	d.path("xx", "M%d %dl10 10m0 -10l-10 10", x2-5, y2-5)
}
