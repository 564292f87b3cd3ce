package timeline

import (
	"fmt"
	"strings"

	"lockkata/failures_test/world"
)

// blocks draws who is inside when, and over that who stands still.
func (d *svg) blocks() {
	for _, b := range d.inside() {
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
	for _, b := range d.stretches(func(s *scene, _ world.Event) []string {
		return each(d.trace.Lanes, func(lane string) string { return choose(s.still[s.process[lane]], "z") })
	}) {
		lane := d.lanes[b.lane]
		d.rect(lane.x, b.from, lane.width-8, b.to-b.from, b.style)
	}
}

// inside are the critical sections as their clients believe in them: in a client's
// own colour, "ov" while there are two, "ex" while that is excused.
func (d *svg) inside() []stretch {
	c := newCompany(d.found)
	return d.stretches(func(s *scene, e world.Event) []string {
		c.follow(e)
		styles := make([]string, len(d.trace.Lanes))
		for i, letter := range c.letters(s) {
			switch letter {
			case 'x':
				styles[i] = "ov"
			case 'e':
				styles[i] = "ex"
			case 'i':
				styles[i] = "k" + owner(i)
			}
		}
		return styles
	})
}

// lifelines draws that a client is there, waits, is dead, or has no network.
func (d *svg) lifelines() {
	dead, cut, waits := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, b := range d.stretches(func(s *scene, e world.Event) []string {
		switch {
		case e.Kind == world.Crashed:
			dead[e.Process] = true
		case e.Kind == world.Called && e.Op == world.OpLock:
			waits[e.Client] = true
		case (e.Kind == world.Returned || e.Kind == world.Blocked) && e.Op == world.OpLock:
			waits[e.Client] = false
		}
		return each(d.trace.Lanes, func(lane string) string {
			switch {
			case dead[s.process[lane]]:
				return "dead"
			case waits[lane]:
				return "w"
			}
			return "l"
		})
	}) {
		x := d.lanes[b.lane].x + 3
		if b.style != "dead" {
			d.path(b.style, "M%d %dV%d", x, b.from, b.to)
		}
	}
	for _, b := range d.stretches(func(s *scene, e world.Event) []string {
		switch e.Kind {
		case world.Cut:
			cut[e.Process] = true
		case world.Healed:
			cut[e.Process] = false
		}
		return each(d.trace.Lanes, func(lane string) string { return choose(cut[s.process[lane]], "ct") })
	}) {
		lane := d.lanes[b.lane]
		d.path(b.style, "M%d %dV%d", lane.x+lane.width-10, b.from, b.to)
	}
}

// breaks draws where the time axis is broken, over all that goes on meanwhile.
func (d *svg) breaks() {
	right := svgWidth - margin
	const wave = 14
	count := (right - margin) / (2 * wave)
	var line strings.Builder
	for range count {
		fmt.Fprintf(&line, "q%d -6 %d 0t%d 0", wave/2, wave, wave)
	}
	for _, t := range d.torn {
		y := t + tornStep/2
		d.path("ts", "M%d %d%sv9h-%dz", margin, y-4, line.String(), 2*wave*count)
		d.path("t", "M%d %d%sM%[1]d %[4]d%[3]s", margin, y-4, line.String(), y+5)
	}
}

func each(lanes []string, style func(string) string) []string {
	styles := make([]string, len(lanes))
	for i, lane := range lanes {
		styles[i] = style(lane)
	}
	return styles
}

func choose(is bool, style string) string {
	if is {
		return style
	}
	return ""
}

// texts writes what each beat says.
func (d *svg) texts() {
	for _, b := range d.beats {
		x := d.lanes[max(b.lane, 0)].x + textIn
		for _, it := range b.items {
			switch {
			case it.told:
				d.finding(b, it)
			default:
				for n, line := range it.lines {
					d.text(x, it.y+13+lineStep*n, it.style, line)
				}
			}
		}
	}
}

// finding writes what a monitor found, beginning in the lane where it fits.
func (d *svg) finding(b *beat, it *item) {
	longest := 0
	for _, line := range it.lines {
		longest = max(longest, runes(line))
	}
	width := int(boldWidth*float64(longest)) + 16
	lane := max(b.lane, 0)
	for lane > 0 && d.lanes[lane].x+textIn+width > d.redis.x-gutter+6 {
		lane--
	}
	x := d.lanes[lane].x + textIn
	d.rect(x, it.y+2, width, lineStep*len(it.lines)+7, "f")
	for n, line := range it.lines {
		d.text(x+8, it.y+18+lineStep*n, it.style, line)
	}
}
