package timeline

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// Caption is what stands above a picture.
type Caption struct {
	Verdict string // the title, a sentence; "" = the first finding, or that there is none
	Tone    Tone   // of the verdict
	Subject string // which failure, on which lock
	// ID keeps the names inside a picture apart from those of another one in the
	// same page; "" = one made from the trace.
	ID       string
	Language texts.Language
}

var nothingBroken = texts.New("no rule is broken")

// orFrom is the caption with a verdict made from the findings where it has none.
func (c Caption) orFrom(found []oracle.Finding) Caption {
	if c.Verdict == "" {
		c.Verdict, c.Tone = nothingBroken.In(c.Language), Good
		if len(found) > 0 {
			c.Verdict, c.Tone = strings.TrimPrefix(found[0].Sentence(c.Language), "✗ "), Bad
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
	s := newStory(trace, found, c.Language)
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
	d.printf("<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, style, escaper.Replace(text))
}

func (d *svg) rect(x, y, width, height int, style string) {
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=%q/>\n", x, y, width, height, style)
}

func (d *svg) path(style, format string, args ...any) {
	d.printf("<path class=%q d=\"%s\"/>\n", style, fmt.Sprintf(format, args...))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// open writes what every picture begins with: its size, its description for those
// who cannot see it, its style.
func (d *svg) open() {
	d.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%[1]d\" height=\"%[2]d\" "+
		"class=\"tl\" role=\"img\" aria-labelledby=\"%s %s\">\n", svgWidth, d.height, d.id("t"), d.id("d"))
	d.printf("<title id=%q>%s</title>\n<desc id=%q>%s</desc>\n<style>\n%s</style>\n",
		d.id("t"), escaper.Replace(d.caption.Verdict), d.id("d"), escaper.Replace(d.description()), svgStyle)
	d.printf("<defs>\n%s</defs>\n", svgShapes)
	d.printf("<rect width=\"%d\" height=\"%d\" rx=\"10\" class=\"b\"/>\n", svgWidth, d.height)
}

// description tells the story in sentences.
func (d *svg) description() string {
	var b strings.Builder
	if d.caption.Subject != "" {
		b.WriteString(d.caption.Subject + ".\n")
	}
	for _, g := range d.groups {
		who := "Redis"
		var parts []string
		for _, l := range g.labels {
			if l.lane >= 0 {
				who = d.Lanes[l.lane]
			}
			if text, _ := d.says(l); text != "" {
				parts = append(parts, text)
			}
			if news := d.news(l); news != "" {
				parts = append(parts, "[Redis: "+news+"]")
			}
			for _, f := range l.found {
				parts = append(parts, d.shorten(f.Sentence(d.language)))
			}
		}
		fmt.Fprintf(&b, "%s %s: %s\n", strings.Join(Clock(g.at, g.until), " "), who, strings.Join(parts, "; "))
	}
	return b.String()
}

var (
	clientLane  = texts.New("client {client}")
	redisLane   = texts.New("Redis: key K")
	ordersLane  = texts.New("orders")
	legendTexts = []struct {
		uses []string
		text texts.Text
	}{
		{[]string{"k0", "k1", "k2", "k3", "ov", "ex"}, texts.New("inside")},
		{[]string{"ov"}, texts.New("two are inside")},
		{[]string{"ex"}, texts.New("two, but one cannot know yet")},
		{[]string{"z"}, texts.New("a process stands still")},
	}
	fadingKey = texts.New("the key in Redis, fading as its lease runs out")
)

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
		d.text(lane.x+lane.width/2-4, d.head+20, "h e c", clientLane.In(d.language, "client", d.Lanes[i]))
	}
	d.rect(d.redisAt.x, d.head, d.redisAt.width-8, 30, "n")
	d.text(d.redisAt.x+d.redisAt.width/2-4, d.head+20, "h c", redisLane.In(d.language))
	if d.ledger {
		d.rect(d.ledgerAt.x, d.head, d.ledgerAt.width, 30, "n")
		d.text(d.ledgerAt.middle(), d.head+20, "h c", ordersLane.In(d.language))
	}
}

// owner is the number of a lane's colours.
func owner(lane int) string { return fmt.Sprint(max(lane, 0) % 4) }

// axis writes the times.
func (d *svg) axis() {
	x := margin + timeWidth - 12
	d.path("ax", "M%d %dV%d", x, d.top-8, d.end)
	before := ""
	for _, g := range d.groups {
		for n, text := range Clock(g.at, g.until) {
			if n == 0 && text == strings.TrimPrefix(before, "… ") {
				continue
			}
			d.text(x-8, g.top+lineTop+13+lineStep*n, "u", text)
			d.path("ax", "M%d %dh7", x-4, g.top+lineTop+9+lineStep*n)
			before = text
		}
	}
}

// legend explains what this picture uses.
func (d *svg) legend() {
	y := d.height - 14
	x := margin + timeWidth
	for _, entry := range legendTexts {
		if !slices.ContainsFunc(entry.uses, d.uses) {
			continue
		}
		text := entry.text.In(d.language)
		d.rect(x, y-11, 18, 13, entry.uses[0])
		d.text(x+25, y, "d", text)
		x += 25 + int(sansWidth*float64(term.Columns(text))) + 14
	}
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"13\" fill=\"url(#fade)\"/>\n", x, y-11)
	d.text(x+25, y, "d", fadingKey.In(d.language))
}

// uses tells whether something has this style already.
func (d *svg) uses(style string) bool {
	return strings.Contains(d.out.String(), fmt.Sprintf("class=%q/>", style))
}
