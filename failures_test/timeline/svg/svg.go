// Package svg draws a trace as a picture for a page or a wall.
package svg

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// css is the style of every picture, after a comment on its classes.
//
//go:embed style.css
var css string

// shapes are the heads of arrows, the hatching of a paused process, and the sample of a fading key.
//
//go:embed shapes.svg
var shapes string

// Caption is the text above a picture.
type Caption struct {
	Verdict string        // the title, a sentence
	Tone    timeline.Tone // of the verdict
	Subject string        // which failure, on which lock
	// ID keeps the names inside a picture apart from those of another one in the same page.
	ID       string
	Language i18n.Language
}

// Draw draws a trace as a picture. Time runs down, and each client has a lane. A block
// in a lane is the time in which the client believes that it holds the lock, red while
// another one does too. The bar at Redis is the key, in its owner's colour, fading as its
// lease runs out. The picture is 900 wide, has colours for light and dark mode, and its
// text can be selected.
func Draw(tr *trace.Trace, found []oracle.Finding, c Caption) string {
	s := timeline.NewStory(tr, found, c.Language)
	c.Verdict = s.Shorten(c.Verdict)
	d := &drawing{layout: newLayout(s, c)}
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

// drawing writes a layout.
type drawing struct {
	*layout
	out strings.Builder
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// text writes one line of text.
func (d *drawing) text(x, y int, style, text string) {
	if style != "" {
		style = fmt.Sprintf(" class=%q", style)
	}
	d.printf("<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, style, escaper.Replace(text))
}

func (d *drawing) rect(x, y, width, height int, style string) {
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=%q/>\n", x, y, width, height, style)
}

func (d *drawing) path(style, format string, args ...any) {
	d.printf("<path class=%q d=\"%s\"/>\n", style, fmt.Sprintf(format, args...))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// open writes the beginning of every picture: its size, its description for screen
// readers, its style.
func (d *drawing) open() {
	d.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%[1]d\" height=\"%[2]d\" "+
		"class=\"tl\" role=\"img\" aria-labelledby=\"%s %s\">\n", svgWidth, d.height, d.id("t"), d.id("d"))
	_, rules, _ := strings.Cut(css, "*/\n")
	d.printf("<title id=%q>%s</title>\n<desc id=%q>%s</desc>\n<style>\n%s</style>\n",
		d.id("t"), escaper.Replace(d.caption.Verdict), d.id("d"), escaper.Replace(d.description()), rules)
	d.printf("<defs>\n%s</defs>\n", shapes)
	d.printf("<rect width=\"%d\" height=\"%d\" rx=\"10\" class=\"b\"/>\n", svgWidth, d.height)
}

// description returns the story in sentences.
func (d *drawing) description() string {
	var b strings.Builder
	if d.caption.Subject != "" {
		b.WriteString(d.caption.Subject + ".\n")
	}
	for _, row := range d.Rows() {
		says := []string{row.Says}
		for _, finding := range row.Findings {
			says = append(says, strings.TrimPrefix(finding, "✗ "))
		}
		if row.Redis != "" {
			says = append(says, "[Redis: "+row.Redis+"]")
		}
		fmt.Fprintf(&b, "%s %s\n", strings.Join(timeline.Clock(row.At, row.Until), " "), strings.Join(says, " "))
	}
	return b.String()
}

var (
	clientLane  = i18n.New("client {client}")
	redisLane   = i18n.New("Redis: key K")
	redisLanes  = i18n.New("Redis: K and L")
	ordersLane  = i18n.New("orders")
	refusesOne  = i18n.New("refuses {client}")
	addsNothing = i18n.New("adds nothing")
	legendTexts = []struct {
		uses []string
		text i18n.Text
	}{
		{[]string{"k0", "k1", "k2", "k3", "ov", "ex"}, i18n.New("inside")},
		{[]string{"ov"}, i18n.New("two are inside")},
		{[]string{"ex"}, i18n.New("two, but one cannot know yet")},
		{[]string{"z"}, i18n.New("a process stands still")},
	}
	fadingKey = i18n.New("the key in Redis, fading as its lease runs out")
)

// heading writes the verdict, and the name of each lane.
func (d *drawing) heading() {
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
		d.text(lane.x+lane.width/2-4, d.head+20, "h e c", clientLane.Localize(d.caption.Language, "client", d.Head(d.Clients[i])))
	}
	d.rect(d.redisAt.x, d.head, d.redisAt.width-8, 30, "n")
	redis := redisLane
	if d.Other != "" {
		redis = redisLanes
	}
	if len(d.Bars) == 0 {
		d.text(d.redisAt.x+d.redisAt.width/2-4, d.head+20, "h c", redis.Localize(d.caption.Language))
	}
	for n, server := range d.Bars {
		d.text(d.redisAt.x+n*serverStep+barWidth/2, d.head+20, "h c", server)
	}
	if d.Ledger {
		d.rect(d.ledgerAt.x, d.head, d.ledgerAt.width, 30, "n")
		d.text(d.ledgerAt.middle(), d.head+20, "h c", ordersLane.Localize(d.caption.Language))
	}
}

// owner returns the number of a lane's colours.
func owner(lane int) string { return fmt.Sprint(max(lane, 0) % 4) }

// axis writes the times.
func (d *drawing) axis() {
	x := margin + timeWidth - 12
	d.path("ax", "M%d %dV%d", x, d.top-8, d.end)
	before := ""
	for _, g := range d.groups {
		for n, text := range timeline.Clock(g.at, g.until) {
			if n == 0 && text == strings.TrimPrefix(before, "… ") {
				continue
			}
			d.text(x-8, g.top+lineTop+13+lineStep*n, "u", text)
			d.path("ax", "M%d %dh7", x-4, g.top+lineTop+9+lineStep*n)
			before = text
		}
	}
}

// legend explains the colours that this picture uses.
func (d *drawing) legend() {
	y := d.height - 14
	x := margin + timeWidth
	for _, entry := range legendTexts {
		isDrawn := func(style string) bool { return strings.Contains(d.out.String(), fmt.Sprintf("class=%q/>", style)) }
		if !slices.ContainsFunc(entry.uses, isDrawn) {
			continue
		}
		text := entry.text.Localize(d.caption.Language)
		d.rect(x, y-11, 18, 13, entry.uses[0])
		d.text(x+25, y, "d", text)
		x += 25 + int(sansWidth*float64(term.Columns(text))) + 14
	}
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"13\" fill=\"url(#fade)\"/>\n", x, y-11)
	d.text(x+25, y, "d", fadingKey.Localize(d.caption.Language))
}
