package timeline

import (
	"fmt"
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// life is the lock's key from when it is installed until it is gone.
type life struct {
	lane     int
	owner    string
	from, to int
	fades    []fade
	at       int // the height of the last event
	first    int // fade of that height
}

// fade is how much of its lease a key has left at a height.
type fade struct {
	y    int
	left float64
}

// add adds a fade. A repetition is many at one height: what is left at its end is
// drawn a little below.
func (l *life) add(f fade) {
	if n := len(l.fades); n == 0 || f.y != l.at {
		l.at, l.first = f.y, n
		l.fades = append(l.fades, f)
		return
	}
	if f.left < l.fades[l.first].left {
		f.y += arrowStep
	}
	l.fades = append(l.fades[:l.first+1], f)
}

// lives follows the key through the trace.
func (d *svg) lives() []*life {
	var all []*life
	var now *life
	var key world.Key
	var seen time.Duration
	left := func(at time.Duration) float64 {
		if key.TTL == world.NoTTL {
			return 1
		}
		return min(max(float64(key.TTL-(at-seen))/float64(d.trace.Lease), 0), 1)
	}
	end := func(y int, at time.Duration) {
		if now != nil {
			now.to = y
			now.fades = append(now.fades, fade{y, left(at)})
			all = append(all, now)
			now = nil
		}
	}
	fadeTo := func(y int) { // through the beats that end before
		for _, b := range d.beats {
			if now != nil && b.end <= y && b.top >= now.fades[len(now.fades)-1].y {
				now.fades = append(now.fades, fade{b.top, left(b.at)}, fade{b.end, left(b.until)})
			}
		}
	}
	for i, e := range d.trace.Events {
		if e.Kind != world.Executed && e.Kind != world.Expired && e.Kind != world.Server {
			continue
		}
		y := d.y(i)
		fadeTo(y)
		n := slices.IndexFunc(e.Keys, func(k world.Key) bool { return k.Name == d.key })
		if n < 0 || now != nil && now.owner != e.Keys[n].Owner.Label {
			end(y, e.At)
		}
		if n < 0 {
			continue
		}
		if now == nil {
			owner := e.Keys[n].Owner
			now = &life{lane: slices.Index(d.trace.Lanes, owner.Client), owner: owner.Label, from: y}
		} else {
			now.add(fade{y, left(e.At)})
		}
		key, seen = e.Keys[n], e.At
		now.add(fade{y, left(e.At)})
	}
	if now != nil {
		fadeTo(d.end)
		end(d.end, max(d.beats[len(d.beats)-1].until, seen))
	}
	return all
}

// keys draws the key in Redis and what is said about it.
func (d *svg) keys() {
	middle := d.redis.x + barWidth/2
	d.path("l", "M%d %dV%d", middle, d.head+30, d.end)
	for i, k := range d.lives() {
		id := d.id(fmt.Sprint("k", i))
		d.printf("<linearGradient id=%q gradientUnits=\"userSpaceOnUse\" x1=\"0\" x2=\"0\" y1=\"%d\" y2=\"%d\">", id, k.from, k.to)
		before := -1.0
		for n, f := range k.fades {
			if n+1 < len(k.fades) && f.left == before && k.fades[n+1].left == before {
				continue
			}
			offset := float64(f.y-k.from) / float64(max(k.to-k.from, 1))
			d.printf("<stop offset=\"%.3f\" stop-opacity=\"%.2f\" class=\"s%s\"/>", offset, 0.08+0.92*f.left, owner(k.lane))
			before = f.left
		}
		d.printf("</linearGradient>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"url(#%s)\" class=\"ko\"/>\n",
			d.redis.x, k.from, barWidth, max(k.to-k.from, 3), id)
	}
	for _, b := range d.beats {
		for _, it := range b.items {
			if it.redis == "" {
				continue
			}
			y := it.y + 17
			if it.text != "" {
				y = it.y + 12
			}
			for n, line := range d.redisLines(it.redis) {
				d.text(d.redis.x+barWidth+6, y+15*n, "k", line)
			}
		}
	}
	if d.ledger {
		d.chips()
	}
	d.wrongs()
}

// chips draws the orders of the ledger, those that are there twice in red.
func (d *svg) chips() {
	d.path("l", "M%d %dV%d", d.orders.middle(), d.head+30, d.end)
	for _, b := range d.beats {
		for _, it := range b.items {
			if it.refuses != "" {
				d.chip(it.y-1, "gb", "refuses "+it.refuses)
			}
			var names []string
			for n, o := range it.orders {
				style := "i" + owner(slices.Index(d.trace.Lanes, o.Client))
				text := o.Name + " by " + o.Client
				if slices.Contains(names, o.Name) {
					style = "ob"
					text = "✗ " + text
				}
				names = append(names, o.Name)
				d.chip(it.y+20*n-1, style, text)
			}
		}
	}
}

func (d *svg) chip(y int, style, text string) {
	d.rect(d.orders.x, y, d.orders.width, 17, style)
	d.text(d.orders.middle(), y+13, "k e c", text)
}

// wrongs marks, at the key, what a finding says about it.
func (d *svg) wrongs() {
	for n, f := range d.found {
		if n >= len(d.foundAt) {
			break
		}
		switch f.Monitor {
		case oracle.WrongDelete, oracle.WrongExtend:
			x, y := d.redis.x+barWidth/2, d.y(d.foundAt[n])
			d.printf("<circle cx=\"%d\" cy=\"%d\" r=\"9\" class=\"xm\"/>\n", x, y)
			d.text(x, y+5, "c xt h", "✗")
		}
	}
}

// arrows draws requests and replies.
func (d *svg) arrows() {
	type place struct{ from, to spot }
	drawn := map[place]bool{} // a repetition is one pair of arrows
	for _, x := range d.exchanges {
		if x.sent >= 0 && x.struck >= 0 {
			p := place{d.spots[x.sent], d.spots[x.struck]}
			if drawn[p] {
				continue
			}
			drawn[p] = true
		}
		d.request(x)
		d.reply(x)
	}
	for i, e := range d.trace.Events {
		if e.Kind == world.Delivered && len(e.Command) == 0 {
			d.path("a", "M%d %dL%d %d", d.redis.x, d.y(i)-2*arrowStep, d.start(e), d.y(i))
		}
	}
}

// start is where a client's arrows begin.
func (d *svg) start(e world.Event) int {
	return d.lanes[max(slices.Index(d.trace.Lanes, e.Client), 0)].x + 6
}

// goal is what a command is sent to.
func (d *svg) goal(x *exchange) int {
	if x.ledger {
		return d.orders.x
	}
	return d.redis.x
}

func (d *svg) request(x *exchange) {
	if x.sent < 0 || x.held && x.struck < 0 {
		return
	}
	e := d.trace.Events[x.sent]
	from, to := d.start(e), d.goal(x)
	y := d.y(x.sent)
	if x.struck < 0 {
		d.broken(from, y, d.halfway(e), y+arrowStep/2)
		return
	}
	d.arrow("q", from, y, to, d.y(x.struck), 1)
}

func (d *svg) reply(x *exchange) {
	if x.struck < 0 {
		return
	}
	e := d.trace.Events[x.struck]
	from, to := d.goal(x), d.start(e)
	y := d.y(x.struck)
	switch {
	case x.got == x.struck: // it is part of the same event
		d.path("a", "M%d %dL%d %d", from, y, to, y+arrowStep)
	case x.got >= 0:
		d.arrow("a", from, y, to, d.y(x.got), 0)
	default:
		d.broken(from, y, d.halfway(e), y+arrowStep/2)
	}
}

// arrow draws a message. A late one spends its time between the clients and Redis,
// where it crosses no text; requests and replies have a track each.
func (d *svg) arrow(style string, x1, y1, x2, y2, track int) {
	if y2-y1 <= 2*arrowStep {
		d.path(style, "M%d %dL%d %d", x1, y1, x2, y2)
		return
	}
	x := d.redis.x - gutter + 2 + 8*track
	d.path(style+" late", "M%d %dL%d %dV%dL%d %d", x1, y1, x, y1+arrowStep/2, y2-arrowStep/2, x2, y2)
}

// halfway is where an arrow breaks off: in its client's own lane.
func (d *svg) halfway(e world.Event) int {
	return d.start(e) + d.lanes[0].width - 40
}

// broken is an arrow that does not arrive.
func (d *svg) broken(x1, y1, x2, y2 int) {
	d.path("x", "M%d %dL%d %d", x1, y1, x2, y2)
	d.path("xx", "M%d %dl10 10m0 -10l-10 10", x2-5, y2-5)
}
