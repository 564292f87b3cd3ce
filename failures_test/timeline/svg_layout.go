package timeline

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

// The measures of an SVG, in its own units: it is 900 of them wide.
const (
	svgWidth  = 900
	margin    = 16
	timeWidth = 76
	lineStep  = 17 // from line to line
	arrowStep = 11 // from where a request leaves to Redis, and from there back
	tornStep  = 26 // the height of a place where the time axis is broken
	barWidth  = 22 // of the key in Redis
	gutter    = 26 // between the clients and Redis: here late messages are on their way
	textIn    = 13 // from the edge of a lane to its texts
	lineTop   = 6  // from the top of a beat to its first line
	monoWidth = 7.3
	sansWidth = 7.2
	boldWidth = 8.0
)

// column is where a lane is.
type column struct{ x, width int }

// layout says where everything of a story is.
type layout struct {
	*story
	caption  Caption
	title    []string
	lanes    []column
	redis    column
	orders   column
	torn     []int // where the time axis is broken
	head     int   // where the lanes begin
	top, end int   // of the lanes, below their names
	height   int
}

func newLayout(s *story, c Caption) *layout {
	l := &layout{story: s, caption: c}
	l.columns()
	l.title = fold(c.Verdict, 76)
	l.head = 22 + 24*len(l.title) + 28
	l.top = l.head + 44
	y := l.top
	before := time.Duration(0)
	for i, b := range s.beats {
		if i > 0 && b.at-before >= time.Second {
			l.torn = append(l.torn, y)
			y += tornStep
		}
		before = max(before, b.until)
		y = l.place(b, y)
	}
	l.end = y + 6
	l.height = l.end + 40
	return l
}

// columns divides the width: what the lanes need comes first.
func (l *layout) columns() {
	redis, orders := 172, 0
	if l.ledger {
		orders = 112
	}
	n := len(l.trace.Lanes)
	if n > 2 {
		redis = 156
	}
	width := (svgWidth - 2*margin - timeWidth - redis - orders) / n
	x := margin + timeWidth
	for range l.trace.Lanes {
		l.lanes = append(l.lanes, column{x, width})
		x += width
	}
	l.redis = column{x + gutter, redis - gutter}
	l.orders = column{x + redis, orders}
}

// place lays a beat out from y on and returns where the next may begin.
func (l *layout) place(b *beat, y int) int {
	b.top = y
	y += lineTop
	least := y // where the texts of other columns end
	for _, it := range b.items {
		it.y = y
		least = max(least, l.besides(it))
		switch {
		case it.text == "":
			y += 2*arrowStep + 7
		case it.told:
			it.lines = fold(it.text, l.fits(l.span()-20, boldWidth))
			y += lineStep*len(it.lines) + 11
		default:
			it.lines = fold(it.text, l.fits(l.roomOf(b.lane), widthOf(it.style)))
			y += lineStep * max(len(it.lines), 1)
		}
	}
	b.end = max(y, least) + 6
	return b.end
}

// besides is where the texts end that stand beside an item, at Redis and the ledger.
func (l *layout) besides(it *item) int {
	end := it.y
	if it.redis != "" {
		end = it.y + 2 + 15*len(l.redisLines(it.redis)) + 8
	}
	return max(end, it.y+20*len(it.orders)+4)
}

func (l *layout) redisLines(text string) []string {
	return fold(text, l.fits(l.redis.width-barWidth-6, 6.9))
}

// span is the width of all lanes together.
func (l *layout) span() int {
	last := l.lanes[len(l.lanes)-1]
	return last.x + last.width - l.lanes[0].x - 30
}

// roomOf is the width that a lane has for text.
func (l *layout) roomOf(lane int) int {
	if lane < 0 {
		return l.span()
	}
	return l.lanes[lane].width - 26
}

func (l *layout) fits(width int, letter float64) int { return int(float64(width) / letter) }

func widthOf(style string) float64 {
	switch style {
	case "m":
		return monoWidth
	case "h", "r":
		return boldWidth
	}
	return sansWidth
}

// y is where an event is in the drawing.
func (l *layout) y(event int) int {
	s := l.spots[event]
	switch {
	case s.item == nil:
		return l.top
	case s.item.text == "":
		return s.item.y + 3 + s.part*arrowStep
	case s.part == 2: // after it
		return s.item.y + lineStep*len(s.item.lines)
	}
	return s.item.y
}

// timesOf is what stands in the time column beside a beat.
func timesOf(b *beat) []string {
	text := []string{rounded(b.at)}
	if until := rounded(b.until); until != text[0] {
		text = append(text, "… "+until)
	}
	return text
}

// rounded is a time, the later the rounder.
func rounded(at time.Duration) string {
	switch {
	case at > time.Minute:
		at = at.Round(time.Second)
	case at > 10*time.Second:
		at = at.Round(100 * time.Millisecond)
	}
	return term.Clock(at)
}

// stretch is a part of a lane in which one thing holds.
type stretch struct {
	lane, from, to int
	style          string
}

// stretches are the parts of lanes in which something holds: state says in which
// style after each event, "" for nothing.
func (l *layout) stretches(state func(s *scene, e world.Event) []string) []stretch {
	var all []stretch
	open := make([]*stretch, len(l.lanes))
	s := newScene(l.trace.Lanes)
	closeAt := func(lane, y int) {
		if o := open[lane]; o != nil && y > o.from {
			o.to = y
			all = append(all, *o)
		}
		open[lane] = nil
	}
	for i, e := range l.trace.Events {
		s.follow(e)
		for lane, style := range state(s, e) {
			if o := open[lane]; o != nil && o.style == style {
				continue
			}
			closeAt(lane, l.y(i))
			if style != "" {
				open[lane] = &stretch{lane: lane, from: l.y(i), style: style}
			}
		}
	}
	for lane := range open {
		closeAt(lane, l.end)
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return a.from - b.from })
	return all
}

func runes(s string) int { return utf8.RuneCountInString(s) }

func (c column) middle() int { return c.x + c.width/2 }

func (l *layout) id(name string) string { return fmt.Sprintf("%s-%s", name, l.caption.ID) }
