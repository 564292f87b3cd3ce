package timeline

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Caption is what stands above a picture.
type Caption struct {
	Verdict string // the title, a sentence; "" = the first finding, or that there is none
	Tone    Tone   // of the verdict
	Subject string // which failure, on which lock
	// ID keeps the names inside a picture apart from those of another one in the
	// same page; "" = one made from the trace.
	ID string
}

// orFrom is the caption with a verdict made from the findings where it has none.
func (c Caption) orFrom(found []oracle.Finding) Caption {
	if c.Verdict == "" {
		c.Verdict, c.Tone = "no rule is broken", Good
		if len(found) > 0 {
			c.Verdict, c.Tone = fmt.Sprintf("%s: %s", found[0].Monitor, found[0].Text), Bad
		}
	}
	return c
}

// Tone is the colour of a verdict.
type Tone string

// The tones. Without one, findings are bad news and no findings are good.
const (
	Bad  Tone = "r"
	Fair Tone = "o" // noticed, or inherent
	Good Tone = "g"
)

// SVG draws a trace as a picture for a page or a wall: time runs down, each client
// has a lane, a block in it is the time in which the client believes that it is
// inside, red while another one is. The bar at Redis is the key, in its owner's
// colour, fading as its lease runs out. The picture is 900 wide, has its own
// colours for light and dark, and all text in it is text.
func SVG(trace *world.Trace, found []oracle.Finding, c Caption) string {
	c = c.orFrom(found)
	if c.ID == "" {
		h := fnv.New32a()
		_, _ = h.Write(trace.Bytes())
		c.ID = fmt.Sprintf("%08x", h.Sum32())
	}
	s := newStory(trace, found)
	c.Verdict = s.shorten(c.Verdict)
	d := &svg{layout: newLayout(s, c)}
	d.open()
	d.heading()
	d.axis()
	d.lifelines()
	d.blocks()
	d.keys()
	d.arrows()
	d.breaks()
	d.texts()
	d.legend()
	d.printf("</svg>\n")
	return d.out.String()
}

// svg writes a layout.
type svg struct {
	*layout
	out strings.Builder
}

func (d *svg) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// text writes one line of text.
func (d *svg) text(x, y int, style, text string) {
	if style != "" {
		style = fmt.Sprintf(" class=%q", style)
	}
	d.printf("<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, style, escape(text))
}

func (d *svg) rect(x, y, width, height int, style string) {
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=%q/>\n", x, y, width, height, style)
}

func (d *svg) path(style, format string, args ...any) {
	d.printf("<path class=%q d=\"%s\"/>\n", style, fmt.Sprintf(format, args...))
}

func escape(text string) string { return escaper.Replace(text) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// open writes what every picture begins with: its size, its description for those
// who cannot see it, its style.
func (d *svg) open() {
	d.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%[1]d\" height=\"%[2]d\" "+
		"class=\"tl\" role=\"img\" aria-labelledby=\"%s %s\">\n", svgWidth, d.height, d.id("t"), d.id("d"))
	d.printf("<title id=%q>%s</title>\n<desc id=%q>%s</desc>\n<style>\n%s</style>\n",
		d.id("t"), escape(d.caption.Verdict), d.id("d"), escape(d.description()), svgStyle)
	d.printf("<defs>\n%s</defs>\n", svgShapes)
	d.printf("<rect width=\"%d\" height=\"%d\" rx=\"10\" class=\"b\"/>\n", svgWidth, d.height)
}

// description tells the story in sentences.
func (d *svg) description() string {
	var b strings.Builder
	if d.caption.Subject != "" {
		b.WriteString(d.caption.Subject + ".\n")
	}
	for _, beat := range d.beats {
		who := "Redis"
		if beat.lane >= 0 {
			who = d.trace.Lanes[beat.lane]
		}
		var parts []string
		for _, it := range beat.items {
			if text := strings.TrimSpace(it.text); text != "" {
				parts = append(parts, text)
			}
			if it.redis != "" {
				parts = append(parts, "[Redis: "+it.redis+"]")
			}
		}
		fmt.Fprintf(&b, "%s %s: %s\n", strings.Join(timesOf(beat), " "), who, strings.Join(parts, "; "))
	}
	return b.String()
}

// heading writes the verdict, and over each lane whose it is.
func (d *svg) heading() {
	y := 36
	for _, line := range d.title {
		d.text(margin+4, y, "v "+string(d.caption.Tone), line)
		y += 24
	}
	if d.caption.Subject != "" {
		d.text(margin+4, y-1, "d", d.caption.Subject)
	}
	for i, lane := range d.lanes {
		d.rect(lane.x, d.head, lane.width-8, 30, "i"+owner(i))
		d.text(lane.x+lane.width/2-4, d.head+20, "h e c", "client "+d.trace.Lanes[i])
	}
	d.rect(d.redis.x, d.head, d.redis.width-8, 30, "n")
	d.text(d.redis.x+d.redis.width/2-4, d.head+20, "h c", "Redis: key K")
	if d.ledger {
		d.rect(d.orders.x, d.head, d.orders.width, 30, "n")
		d.text(d.orders.middle(), d.head+20, "h c", "orders")
	}
}

// owner is the number of a lane's colours.
func owner(lane int) string { return fmt.Sprint(max(lane, 0) % 4) }

// axis writes the times.
func (d *svg) axis() {
	x := margin + timeWidth - 12
	d.path("ax", "M%d %dV%d", x, d.top-8, d.end)
	before := ""
	for _, b := range d.beats {
		for n, text := range timesOf(b) {
			if n == 0 && text == strings.TrimPrefix(before, "… ") {
				continue
			}
			d.text(x-8, b.top+lineTop+13+lineStep*n, "u", text)
			d.path("ax", "M%d %dh7", x-4, b.top+lineTop+9+lineStep*n)
			before = text
		}
	}
}

// legend explains what this picture uses.
func (d *svg) legend() {
	y := d.height - 14
	x := margin + timeWidth
	entry := func(style, text string) {
		d.rect(x, y-11, 18, 13, style)
		d.text(x+25, y, "d", text)
		x += 25 + int(sansWidth*float64(runes(text))) + 14
	}
	if slices.ContainsFunc([]string{"k0", "k1", "k2", "k3", "ov", "ex"}, d.uses) {
		entry("k0", "inside")
	}
	if d.uses("ov") {
		entry("ov", "two are inside")
	}
	if d.uses("ex") {
		entry("ex", "two, but one cannot know yet")
	}
	if d.uses("z") {
		entry("z", "a process stands still")
	}
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"13\" fill=\"url(#fade)\"/>\n", x, y-11)
	d.text(x+25, y, "d", "the key in Redis, fading as its lease runs out")
}

// uses tells whether something has this style already.
func (d *svg) uses(style string) bool {
	return strings.Contains(d.out.String(), fmt.Sprintf("class=%q/>", style))
}
