package timeline

import (
	"fmt"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Mermaid draws a trace as a sequence diagram for everything that knows Mermaid. A
// client's line is broad while the client believes that it is inside.
func Mermaid(trace *world.Trace, found []oracle.Finding) string {
	s := newStory(trace, found)
	m := &mermaid{story: s, inside: map[string]int{}}
	m.line("sequenceDiagram")
	for _, lane := range trace.Lanes {
		m.line("    participant %s as client %s", lane, lane)
	}
	m.line("    participant Redis")
	last := "Redis"
	if s.ledger {
		m.line("    participant Orders as orders")
		last = "Orders"
	}
	before := ""
	for _, b := range s.beats {
		if now := strings.Join(clock(b), " "); now != before {
			m.line("    Note over %s,%s: %s", trace.Lanes[0], last, now)
			before = now
		}
		for n, it := range b.items {
			label := ""
			if n > 0 {
				label = b.items[n-1].text
			}
			m.item(b, it, label)
		}
	}
	for _, lane := range trace.Lanes { // a line that stays broad to the end is not drawn at all
		for ; m.inside[lane] > 0; m.inside[lane]-- {
			m.line("    deactivate %s", lane)
		}
	}
	return m.out.String()
}

type mermaid struct {
	*story
	out    strings.Builder
	inside map[string]int
}

func (m *mermaid) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

// item writes what one part of a beat says. label is the text before it.
func (m *mermaid) item(b *beat, it *item, label string) {
	lane := "Redis"
	if b.lane >= 0 {
		lane = m.trace.Lanes[b.lane]
	}
	switch {
	case it.told:
		m.line("    Note over %s,Redis: %s", m.trace.Lanes[0], plain(it.text))
	case it.text == "":
		m.arrows(it, lane, label)
	case it.style != "m" && it.style != "" && strings.TrimSpace(it.text) != "":
		m.leave(m.trace.Events[it.event])
		m.enter(m.trace.Events[it.event])
		m.line("    Note over %s: %s", lane, plain(it.text))
	}
	if it.redis != "" {
		m.line("    Note over Redis: %s", plain(it.redis))
	}
}

// arrows writes the requests that leave here and the replies that come.
func (m *mermaid) arrows(it *item, lane, label string) {
	done := map[string]bool{} // a repetition is told once
	write := func(line string) {
		if !done[line] {
			m.line("%s", line)
		}
		done[line] = true
	}
	for _, x := range m.exchanges {
		goal := "Redis"
		if x.ledger {
			goal = "Orders"
		}
		request, answer, _ := strings.Cut(label, " → ")
		if x.ledger {
			if n := strings.LastIndex(label, ": "); n > 0 {
				request, answer = label[:n], label[n+2:]
			}
		}
		switch {
		case m.isAt(x.struck, it) && !m.isAt(x.sent, it) && x.sent >= 0:
			write(fmt.Sprintf("    Note over %s: %s", goal, plain(strings.TrimSuffix(request, " arrives")+" arrives")))
		case !m.isAt(x.sent, it):
		case x.struck >= 0 && !m.isAt(x.struck, it): // it is late
			write(fmt.Sprintf("    %s-)%s: %s", lane, goal, plain(request)))
		case x.struck < 0 && !x.held:
			write(fmt.Sprintf("    %s-x%s: %s", lane, goal, plain(request)))
		case x.struck >= 0:
			write(fmt.Sprintf("    %s->>%s: %s", lane, goal, plain(request)))
		}
		switch {
		case m.isAt(x.got, it):
			if answer == "" && x.got >= 0 {
				answer = m.trace.Events[x.got].Reply
			}
			write(fmt.Sprintf("    %s-->>%s: %s", goal, lane, plain(answer)))
		case m.isAt(x.struck, it) && x.got < 0:
			write(fmt.Sprintf("    %s--x%s: no reply", goal, lane))
		}
	}
}

func (m *mermaid) isAt(event int, it *item) bool { return event >= 0 && m.spots[event].item == it }

// enter and leave keep a line broad while its client is inside.
func (m *mermaid) enter(e world.Event) {
	if e.Kind == world.Returned && e.Result.Held {
		m.inside[e.Client]++
		m.line("    activate %s", e.Client)
	}
}

func (m *mermaid) leave(e world.Event) {
	switch {
	case e.Kind == world.Called && e.Op == world.OpUnlock && m.inside[e.Client] > 0:
		m.inside[e.Client]--
		m.line("    deactivate %s", e.Client)
	case e.Kind == world.Lost, e.Kind == world.Crashed:
		for ; m.inside[e.Client] > 0; m.inside[e.Client]-- {
			m.line("    deactivate %s", e.Client)
		}
	}
}

// plain is a text without what Mermaid takes for its own signs.
func plain(text string) string {
	text = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#60;", ">", "#62;", "{", "#123;", "}", "#125;").Replace(text)
	if strings.TrimSpace(text) == "" {
		return "…"
	}
	return text
}
