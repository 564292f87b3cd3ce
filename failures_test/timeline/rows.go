// Package timeline draws a trace: a lane for each client, one for Redis and one
// for the ledger, from top to bottom in the order in which things happened. [Text]
// is for a terminal, [SVG] for a page or a wall, [HTML] for a browser, step by step.
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

// row is one line of a picture before it is drawn.
type row struct {
	at     time.Duration
	lane   int // -1: no client's
	text   string
	redis  string
	ledger string
	source string
	pause  bool // time passes
	marks  []mark
	found  []oracle.Finding
	events []world.Event // that it tells of
}

// isEmpty tells whether a row says nothing.
func (r row) isEmpty() bool {
	return r.text == "" && r.redis == "" && r.ledger == "" && len(r.found) == 0
}

// mark is what a lane's edge shows on a row.
type mark int

const (
	outside mark = iota
	inside
	together // inside, while another client is inside too
	stopped
)

// picture is a trace as rows.
type picture struct {
	lanes  []string
	key    string // the lock's key, shown as K
	rows   []row
	ledger bool
}

// newPicture turns events into rows. What belongs together becomes one row: a
// command with its reply if nothing came between, and a run of equal attempts.
func newPicture(trace *world.Trace, found []oracle.Finding) *picture {
	p := &picture{lanes: trace.Lanes, key: trace.LockKey()}
	s := newScene(trace.Lanes)
	events := trace.Events
	told := 0 // findings, which come in the order of steps
	for i := 0; i < len(events); i++ {
		e := events[i]
		if e.Kind == world.Sent {
			continue
		}
		last := i
		text, source := "", ""
		if e.Kind == world.Executed {
			last = replyAt(events, i)
			text = commandText(e, last > i)
			source = sourceText(e)
			times, end := attempts(events, i, last)
			if times > 2 {
				text = fmt.Sprintf("%s, %d times in %s", text, times, roughly(events[end].At-e.At))
				last = end
			}
		} else {
			text = eventText(e)
		}
		for _, passed := range events[i : last+1] {
			s.follow(passed)
		}
		r := row{
			events: events[i : last+1], at: e.At, lane: slices.Index(trace.Lanes, e.Client), text: p.abbreviate(text),
			source: source, pause: e.Kind == world.Slept, marks: s.marks(),
			redis: p.abbreviate(s.redis(e, events[last].At)), ledger: s.ledger(),
		}
		for told < len(found) && found[told].Step <= events[last].Step {
			r.found = append(r.found, found[told])
			told++
		}
		p.ledger = p.ledger || r.ledger != ""
		p.rows = append(p.rows, r)
		i = last
	}
	if n := len(p.rows); n > 0 {
		p.rows[n-1].found = append(p.rows[n-1].found, found[told:]...)
	}
	return p
}

func (p *picture) abbreviate(s string) string {
	if p.key == "" {
		return s
	}
	return strings.ReplaceAll(s, p.key, "K")
}

// replyAt is the index of the event with which the command at i has its reply,
// if nothing else happened in between, else i.
func replyAt(events []world.Event, i int) int {
	if i+1 < len(events) && events[i+1].Kind == world.Delivered && events[i+1].Call == events[i].Call &&
		events[i+1].Client == events[i].Client && events[i+1].Line() == events[i].Line() {
		return i + 1
	}
	return i
}

// attempts counts how often the same command with the same reply follows the one
// at first, with nothing in between, and returns the index of the last event.
func attempts(events []world.Event, first, last int) (times, end int) {
	times, end = 1, last
	like := func(e world.Event, kind world.Kind) bool {
		f := events[first]
		return e.Kind == kind && e.Call == f.Call && e.Client == f.Client && e.Line() == f.Line()
	}
	for last > first && end+3 < len(events) && like(events[end+1], world.Sent) && like(events[end+2], world.Executed) &&
		events[end+2].Reply == events[first].Reply && like(events[end+3], world.Delivered) {
		times, end = times+1, end+3
	}
	return times, end
}

func commandText(e world.Event, answered bool) string {
	text := e.Line() + " → " + e.Reply
	if e.Background {
		text = "background: " + text
	}
	if !answered {
		text += " (not read yet)"
	}
	return text
}

// eventText is what a row says about anything but an executed command.
func eventText(e world.Event) string {
	switch e.Kind {
	case world.Called:
		if e.Op == world.OpCheck || e.Op == world.OpInsert {
			return ""
		}
		if e.Bound > 0 {
			return fmt.Sprintf("%s(), for %s at most", e.Op, roughly(e.Bound))
		}
		return e.Op + "()"
	case world.Refused:
		return e.Line() + " → " + e.Reply
	case world.Delivered:
		return "reads " + e.Reply
	case world.Dropped:
		return "↯ " + e.Text + ": the connection breaks"
	case world.Stored:
		return fmt.Sprintf("%s order %q: %s", strings.ToLower(e.Op), e.Command[1], e.Reply)
	case world.Returned:
		return resultText(e)
	case world.Lost:
		return "is told that its hold is lost"
	case world.Blocked:
		return fmt.Sprintf("still waiting after %s", term.Short(e.Bound))
	case world.Frozen:
		return strings.TrimSpace("stands still " + e.Text)
	case world.Thawed:
		return "goes on"
	case world.Crashed:
		return strings.TrimSpace("† dies " + e.Text)
	case world.Cut:
		return "loses its network"
	case world.Healed:
		return "has its network back"
	case world.Delayed:
		return "… " + e.Text
	case world.Cancelled:
		return "the caller cancels " + e.Op
	case world.Slept:
		return passed(e.Text)
	}
	return e.Text
}

func passed(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return term.Short(d) + " later"
}

func resultText(e world.Event) string {
	switch {
	case e.Op == world.OpCount && e.Result.Claim == world.ClaimDone:
		return fmt.Sprintf("= a count of %d", e.Result.Count)
	case e.Op == world.OpForce && e.Result.Claim == world.ClaimRefused:
		return "= nobody holds it"
	case (e.Op == world.OpUnlock || e.Op == world.OpForce) && e.Result.Claim == world.ClaimDone:
		return "= unlocked"
	case e.Result.Held:
		return "= has the lock"
	case e.Result.Error == "":
		return "= no: somebody else has it"
	}
	return "= error: " + e.Result.Error
}

func sourceText(e world.Event) string {
	if e.Source == nil || e.Source.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", e.Source.File[strings.LastIndexByte(e.Source.File, '/')+1:], e.Source.Line)
}

// roughly drops the fraction of a second from what is longer than one.
func roughly(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return term.Short(d)
}
