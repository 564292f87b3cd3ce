package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// beat is what one lane does at one moment: a row of the SVG.
type beat struct {
	lane      int // -1: no client's
	at, until time.Duration
	items     []*item
	top, end  int // set by the layout
}

// item is a part of a beat.
type item struct {
	text    string // "" = arrows between the lane and what it talks to
	style   string
	event   int    // what it tells of, of words
	told    bool   // a finding: across all lanes
	redis   string // what is new in Redis
	orders  []world.Order
	refuses string // whom the ledger refuses
	y       int    // set by the layout
	lines   []string
}

// spot is where in the drawing an event is.
type spot struct {
	item *item
	part int // of arrows: 0 leaves the client, 1 is at Redis, 2 is back
}

// story is a trace as beats, with the spot of every event.
type story struct {
	trace     *world.Trace
	key       string
	beats     []*beat
	spots     []spot
	exchanges []*exchange
	of        []*exchange // event → exchange
	found     []oracle.Finding
	foundAt   []int   // finding → index of its event
	untold    []*item // findings that wait for their beat
	ledger    bool
	scene     *scene
}

func newStory(trace *world.Trace, found []oracle.Finding) *story {
	trace = unhurried(trace)
	s := &story{trace: trace, key: trace.LockKey(), found: found, spots: make([]spot, len(trace.Events)), scene: newScene(trace.Lanes)}
	s.exchanges, s.of = exchanges(trace.Events)
	for i := 0; i < len(trace.Events); {
		next := i + 1
		if end := repetition(trace.Events, i); end > i {
			s.repeat(i, end)
			next = end + 1
		} else {
			s.tell(i)
		}
		for ; i < next; i++ {
			s.scene.follow(trace.Events[i])
			s.judge(i)
		}
	}
	return s
}

// judge tells what was found at an event. A command that is told together with its
// execution has no beat of its own yet: then its finding waits until then.
func (s *story) judge(i int) {
	for _, f := range s.found {
		if f.Step == s.trace.Events[i].Step {
			s.foundAt = append(s.foundAt, i)
			s.untold = append(s.untold, &item{
				told: true, style: "r", text: fmt.Sprintf("✗ %s: %s", f.Monitor, s.shorten(f.Text)),
			})
		}
	}
	if x := s.of[i]; x != nil && x.sent == i && x.struck == i+1 {
		return
	}
	b := s.last()
	b.items = append(b.items, s.untold...)
	s.untold = nil
}

func (s *story) last() *beat {
	if len(s.beats) == 0 {
		s.beats = append(s.beats, &beat{lane: -1})
	}
	return s.beats[len(s.beats)-1]
}

// beat is the one that an event belongs to: the last, if it goes on, else a new one.
func (s *story) beat(e world.Event) *beat {
	lane := slices.Index(s.trace.Lanes, e.Client)
	if n := len(s.beats); n > 0 && e.Kind != world.Called {
		if b := s.beats[n-1]; b.lane == lane && b.at == e.At && b.until == e.At && lane >= 0 {
			return b
		}
	}
	b := &beat{lane: lane, at: e.At, until: e.At}
	s.beats = append(s.beats, b)
	return b
}

func (b *beat) add(x *item) *item {
	b.items = append(b.items, x)
	return x
}

// tell adds one event to the story.
func (s *story) tell(i int) {
	e := s.trace.Events[i]
	x := s.of[i]
	switch {
	case e.Kind == world.Slept:
	case s.spots[i].item != nil: // told with an event before it
	case x != nil && i == x.sent:
		s.send(i, x)
	case x != nil && i == x.struck:
		s.strike(i, x)
	case x != nil && i == x.got, e.Kind == world.Delivered:
		b := s.beat(e)
		s.spots[i] = spot{b.add(&item{}), 2}
		b.add(&item{text: arrival(e), style: "m"})
	default:
		s.say(i, e)
	}
	if n := len(s.beats); s.spots[i].item == nil && n > 0 {
		items := s.beats[n-1].items
		s.spots[i] = spot{items[len(items)-1], 2}
	}
}

// send tells of a command that leaves, unless it leaves later or arrives at once.
func (s *story) send(i int, x *exchange) {
	if x.held || x.struck == i+1 {
		return
	}
	e := s.trace.Events[i]
	b := s.beat(e)
	text, style := s.line(e), "m"
	if x.ledger {
		text, style = fmt.Sprintf("%s order %q", strings.ToLower(e.Op), e.Text), ""
	}
	b.add(&item{text: text, style: style})
	s.spots[i] = spot{b.add(&item{}), 0}
}

// strike tells of a command that Redis executes, or the ledger, with its reply if
// that comes at once.
func (s *story) strike(i int, x *exchange) {
	e := s.trace.Events[i]
	b := s.beat(e)
	text := s.line(e)
	style := "m"
	arrows := &item{}
	switch {
	case x.ledger:
		text = fmt.Sprintf("%s order %q: %s", strings.ToLower(e.Op), e.Command[1], ledgerReply(e))
		style = ""
		s.ledger = true
		if len(e.Orders) > len(s.scene.orders) {
			arrows.orders = e.Orders
		}
		if strings.HasPrefix(e.Reply, "refused") {
			arrows.refuses = e.Client
		}
	case x.got == i+1:
		text += " → " + reply(e)
		s.spots[x.got] = spot{arrows, 2}
	}
	if x.got < 0 && x.sent >= 0 && s.spots[x.sent].item != nil {
		text += " arrives"
	}
	if e.Kind == world.Executed {
		arrows.redis = s.news(e)
	}
	b.add(&item{text: text, style: style})
	b.add(arrows)
	s.spots[i] = spot{arrows, 1}
	if x.sent >= 0 && (x.held || x.sent == i-1) {
		s.spots[x.sent] = spot{arrows, 0}
	}
}

// say tells of anything but commands and replies.
func (s *story) say(i int, e world.Event) {
	text, style := s.words(e)
	if text == "" && e.Kind != world.Expired {
		return
	}
	b := s.beat(e)
	x := b.add(&item{text: text, style: style, event: i})
	if e.Kind == world.Expired || e.Kind == world.Server {
		x.redis = s.news(e)
	}
	if x.text == "" {
		x.text = " "
	}
	s.spots[i] = spot{x, 0}
}

// words is what the picture says about an event, and in which style.
func (s *story) words(e world.Event) (text, style string) {
	text = s.shorten(eventText(e))
	switch e.Kind {
	case world.Called:
		return text, "h"
	case world.Expired:
		return "", ""
	case world.Frozen, world.Thawed:
		text, _, _ = strings.Cut(text, " after ")
		text, _, _ = strings.Cut(text, " before ")
		return text, "h y"
	case world.Lost:
		return "is told: the hold is lost", "g"
	case world.Crashed:
		return "† dies", "h"
	case world.Cut, world.Blocked, world.Dropped:
		return text, "r"
	case world.Server:
		return "▸ " + text, "h"
	case world.Returned:
		if e.Result.Error != "" {
			parts := strings.Split(e.Result.Error, ": ")
			return "error: " + parts[len(parts)-1], "r"
		}
		if e.Result.Held {
			if slices.ContainsFunc(s.found, func(f oracle.Finding) bool { return f.Step == e.Step && f.Monitor == oracle.Exclusion }) {
				return s.entering(e.Client), "r"
			}
			return s.entering(e.Client), "h"
		}
		return strings.TrimPrefix(text, "= "), "d"
	}
	return text, "d"
}

// entering says that a client comes in.
func (s *story) entering(client string) string {
	if n := s.scene.holds[client]; n > 0 {
		return fmt.Sprintf("%s is inside, %d times", client, n+1)
	}
	for _, n := range s.scene.holds {
		if n > 0 {
			return client + " is inside, too"
		}
	}
	return client + " is inside"
}

// repeat makes one beat of each command of a repetition.
func (s *story) repeat(first, end int) {
	type group struct {
		*beat
		text   *item
		arrows *item
		times  int
	}
	var groups []*group
	of := map[string]*group{}
	for i := first; i <= end; i++ {
		e := s.trace.Events[i]
		if e.Kind == world.Slept {
			continue
		}
		g := of[attempt(e)]
		if g == nil {
			g = &group{beat: &beat{lane: slices.Index(s.trace.Lanes, e.Client), at: e.At}, text: &item{style: "m"}, arrows: &item{}}
			g.items = []*item{g.text, g.arrows}
			of[attempt(e)] = g
			groups = append(groups, g)
			s.beats = append(s.beats, g.beat)
		}
		g.until = e.At
		if e.Kind == world.Executed {
			g.times++
			g.text.text = fmt.Sprintf("%s → %s, %d×", s.line(e), reply(e), g.times)
			g.arrows.redis = s.news(e)
		}
		s.spots[i] = spot{g.arrows, slices.Index([]world.Kind{world.Sent, world.Executed, world.Delivered}, e.Kind)}
	}
	for _, g := range groups {
		g.text.text = strings.TrimSuffix(g.text.text, ", 1×")
	}
}
