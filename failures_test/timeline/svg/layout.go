package svg

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
)

// The measures of an SVG, in its own units: it is 900 of them wide.
const (
	svgWidth  = 900
	margin    = 16
	timeWidth = 76
	lineStep  = 17 // from line to line
	arrowStep = 11 // from the client to Redis, and from Redis back
	tornStep  = 26 // the height of a place where the time axis is broken
	barWidth  = 22 // of the key in Redis
	// serverStep is from the key on one server to that on the next.
	serverStep = 26
	gutter     = 26 // between the clients and Redis, for late messages
	textIn     = 13 // from the edge of a lane to its texts
	lineTop    = 6  // from the top of a group to its first line
	sansWidth  = 7.2
	boldWidth  = 8.0
)

// letterWidths are the widths of letters in styles that are not sansWidth.
var letterWidths = map[string]float64{"m": 7.3, "h": boldWidth, "r": boldWidth}

// column is where a lane is.
type column struct{ x, width int }

func (c column) middle() int { return c.x + c.width/2 }

// label is a label with its place in the picture.
type label struct {
	*timeline.Label
	y, arrows, below int // its top, that of its arrows (0: no arrows), and that of the next label
	lines            []string
}

// group is the labels of one lane at one moment, which are drawn together.
type group struct {
	last      *label
	at, until time.Duration
	top, end  int
}

// layout is the place of everything in a picture.
type layout struct {
	*timeline.Story
	labels   []*label
	caption  Caption
	title    []string
	lanes    []column
	redisAt  column
	ledgerAt column
	groups   []*group
	torn     []int // where the time axis is broken
	head     int   // where the lanes begin
	top, end int   // of the lanes, below their names
	height   int
}

func newLayout(s *timeline.Story, c Caption) *layout {
	l := &layout{Story: s, caption: c}
	l.columns()
	l.title = timeline.Fold(c.Verdict, 76)
	l.head = 22 + 24*len(l.title) + 28
	l.top = l.head + 44
	y := l.top
	until := time.Duration(0)
	var g *group
	for _, told := range s.Labels {
		b := &label{Label: told}
		l.labels = append(l.labels, b)
		text, _ := l.Picture(told)
		if text == "" && b.Event.Kind != trace.Expired && len(b.Found) == 0 {
			b.y = y // time passes
			continue
		}
		if g == nil || !g.goesOn(b) {
			if g != nil && b.At-until >= time.Second {
				l.torn = append(l.torn, y)
				y += tornStep
			}
			g = &group{at: b.At, until: b.Until, top: y, end: y + lineTop}
			l.groups = append(l.groups, g)
		}
		until = max(until, b.Until)
		y = l.place(g, b)
	}
	l.end = y + 6
	l.height = l.end + 40
	return l
}

// goesOn reports whether a label belongs to a group.
func (g *group) goesOn(b *label) bool {
	return g.last.Lane == b.Lane && b.Lane >= 0 && g.at == b.At && g.until == b.At && b.Until == b.At && b.Event.Kind != trace.Called
}

// bar is where a key is drawn: of that name, on that server.
type bar struct {
	column
	name, server string
}

// bars are next to each other for several servers, and narrower for two keys.
func (l *layout) bars() (all []bar) {
	x := l.redisAt.x
	for n, server := range l.Bars {
		all = append(all, bar{column{x + n*serverStep, barWidth}, "K", server})
	}
	const half = barWidth/2 - 1
	switch {
	case len(all) > 0:
		return all
	case l.Other != "":
		return []bar{{column{x, half}, "K", ""}, {column{x + barWidth - half, half}, "L", ""}}
	}
	return []bar{{column{x, barWidth}, "K", ""}}
}

// columns divides the width between the lanes, Redis and the ledger.
func (l *layout) columns() {
	redis, orders := 172, 0
	if l.Ledger {
		orders = 112
	}
	n := len(l.Clients)
	if n > 2 {
		redis = 156
	}
	width := (svgWidth - 2*margin - timeWidth - redis - orders) / n
	x := margin + timeWidth
	for range l.Clients {
		l.lanes = append(l.lanes, column{x, width})
		x += width
	}
	l.redisAt = column{x + gutter, redis - gutter}
	l.ledgerAt = column{x + redis, orders}
}

// place adds a label to a group, below the others, and returns where the next group may
// begin. The texts at Redis and the ledger may be higher than the label.
func (l *layout) place(g *group, b *label) int {
	y := g.top + lineTop
	if g.last != nil {
		y = g.last.below
	}
	g.last = b
	b.y = y
	text, style := l.Picture(b.Label)
	if text != "" || b.Event.Kind == trace.Expired {
		room := l.span()
		if b.Lane >= 0 {
			room = l.lanes[b.Lane].width - 26
		}
		b.lines = timeline.Fold(text, fits(room, cmp.Or(letterWidths[style], sansWidth)))
		y += lineStep * max(len(b.lines), 1)
	}
	beside := b.y
	if b.hasArrows() {
		b.arrows, beside = y, y
		y += 2*arrowStep + 7
	}
	for _, f := range b.Found {
		y += lineStep*len(l.findingLines(f.Sentence(l.caption.Language))) + 11
	}
	b.below = y
	least := y
	if news := l.News(b.Label); news != "" {
		least = max(least, beside+2+15*len(l.redisLines(news))+8)
	}
	if l.LedgerNews(b.Label) != "" {
		least = max(least, beside+20*len(b.After.Orders)+4)
	}
	g.end = max(g.end, least+6)
	return g.end
}

// hasArrows reports whether a message is drawn between the lane and Redis or the ledger.
func (b *label) hasArrows() bool {
	return b.Leaves || slices.Contains([]trace.Kind{trace.Executed, trace.Refused, trace.Stored, trace.Delivered}, b.Event.Kind)
}

func (l *layout) redisLines(text string) []string {
	return timeline.Fold(text, fits(l.redisAt.width-barWidth-6, 6.9))
}

func (l *layout) findingLines(text string) []string {
	return timeline.Fold(l.Shorten(text), fits(l.span()-20, boldWidth))
}

// span returns the width of all lanes together.
func (l *layout) span() int {
	last := l.lanes[len(l.lanes)-1]
	return last.x + last.width - l.lanes[0].x - 30
}

func fits(width int, letter float64) int { return int(float64(width) / letter) }

// stretch is a part of a lane with one style.
type stretch struct {
	lane, from, to int
	style          string
}

// stretches returns the parts of lanes that have a style. The function returns the style of
// a lane for the state of its client, "" for none.
func (l *layout) stretches(style func(c timeline.Client, lane int) string) []stretch {
	var all []stretch
	for lane := range l.lanes {
		open := stretch{lane: lane}
		change := func(y int, now string) {
			if now == open.style {
				return
			}
			if open.to = y; open.style != "" && y > open.from {
				all = append(all, open)
			}
			open.from, open.style = y, now
		}
		for _, b := range l.labels {
			change(b.y, style(b.After.Clients[lane], lane))
		}
		change(l.end, "")
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return a.from - b.from })
	return all
}

// where returns the parts of lanes in which the process is in some condition, with that style.
func (l *layout) where(style string, is func(trace.Condition) bool) []stretch {
	return l.stretches(func(c timeline.Client, _ int) string {
		if is(c.Process) {
			return style
		}
		return ""
	})
}

func (l *layout) id(name string) string { return fmt.Sprintf("%s-%s", name, l.caption.ID) }
