package timeline

import (
	"slices"

	"lockkata/failures_test/trace"
)

// Message is a command and its reply, or what Redis pushes to a client, between the rows of a story. A
// row is -1 if there is none: a push is not sent by a client.
type Message struct {
	Lane     int
	Sent     int   // the row in which it leaves the client
	Executed int   // the row in which Redis executes it, or pushes
	Read     int   // the row in which the reply reaches the client
	Lost     int   // the row in which it or its reply is lost
	Over     int   // the row in which the client stops waiting for it: its call has returned, or its process is dead
	Servers  []int // where it is executed, as numbers of Bars; none if there is one server
	Ledger   bool
}

// addMessage adds a label for the message that the command of one of these labels has published, if a client
// listens or wants to. A push that arrives or is lost has the number of its message too, and publishes none.
func (t *labeler) addMessage(labels []*Label) {
	for _, l := range labels {
		e := l.Event
		if e.Kind != trace.Executed || e.Published == 0 || t.oneLabelPerEvent || !slices.ContainsFunc(t.Events[:l.First], isSubscription) {
			continue
		}
		said := trace.Event{Kind: published, At: e.At, Published: e.Published, Listeners: e.Listeners}
		t.add([]*Label{{First: -1, Last: l.Last, Events: l.Events, Event: said, At: l.Until, Until: l.Until}})
	}
}

// Messages returns the messages between rows of the story, which [Story.Rows] has returned.
func (s *Story) Messages(rows []Row) (all []Message) {
	seen := map[*trace.Request]bool{}
	for i, e := range s.Events {
		r := s.requests[i]
		switch {
		case e.Kind == trace.Executed && e.Published > 0:
			all = append(all, s.pushes(rows, e)...)
		case r == nil && e.Kind == trace.Delivered && e.Published == 0: // a push of a server that does not say which command it is of
			at := rowOf(rows, i, e)
			all = append(all, Message{Lane: slices.Index(s.Clients, e.Client), Sent: -1, Executed: at, Read: at, Lost: -1, Over: -1})
		}
		if r == nil || seen[r] || r.Paused && r.Executed < 0 {
			continue
		}
		seen[r] = true
		m := Message{Lane: slices.Index(s.Clients, e.Client), Sent: rowOf(rows, r.Sent, e), Executed: -1, Read: -1, Lost: -1, Over: -1, Ledger: r.Ledger}
		for _, part := range []struct {
			row   *int
			event int
		}{{&m.Executed, r.Executed}, {&m.Read, r.Delivered}, {&m.Lost, r.Lost}} {
			if part.event >= 0 {
				*part.row = rowOf(rows, part.event, s.Events[part.event])
			}
		}
		if over := s.over(r); over >= 0 {
			m.Over = rowOf(rows, over, s.Events[over])
		}
		if r.Executed >= 0 && !s.isLate(r) || r.Sent < 0 {
			m.Sent = m.Executed
		}
		s.merge(&all, m, s.Bar(max(r.Sent, r.Executed)))
	}
	return all
}

// merge adds a message. If the same command to another server is there already, that one gets its server, too.
func (s *Story) merge(all *[]Message, m Message, server int) {
	for i := range *all {
		other := &(*all)[i]
		if m.Lane == other.Lane && m.Sent == other.Sent && m.Executed == other.Executed && m.Read == other.Read && m.Lost == other.Lost && m.Ledger == other.Ledger {
			if server >= 0 && !slices.Contains(other.Servers, server) {
				other.Servers = append(other.Servers, server)
			}
			return
		}
	}
	if server >= 0 {
		m.Servers = []int{server}
	}
	*all = append(*all, m)
}

// pushes returns the messages that a command has published, one for each listener; to no client if there is none.
func (s *Story) pushes(rows []Row, by trace.Event) (all []Message) {
	from := slices.IndexFunc(rows, func(r Row) bool { return r.Event.Kind == published && r.Event.Published == by.Published })
	if from < 0 {
		return nil
	}
	if len(by.Listeners) == 0 {
		return []Message{{Lane: -1, Sent: -1, Executed: from, Read: -1, Lost: from, Over: -1}}
	}
	for _, client := range by.Listeners {
		m := Message{Lane: slices.Index(s.Clients, client), Sent: -1, Executed: from, Read: -1, Lost: -1, Over: -1}
		for i, e := range s.Events {
			switch {
			case e.Client != client || e.Published != by.Published || i < by.Step:
			case e.Kind == trace.Delivered && m.Read < 0:
				m.Read = rowOf(rows, i, e)
			case e.Kind == trace.Dropped:
				m.Lost = rowOf(rows, i, e)
			}
		}
		all = append(all, m)
	}
	return all
}

// Bar returns the server of an event, as a number of Bars; -1 if there is one server. Without a name it is the
// master of that moment.
func (s *Story) Bar(event int) int {
	name := s.Events[event].Server
	if name == "" && len(s.Replicated) > 0 {
		name = s.Replicated[0]
		for _, e := range s.Events[:event] {
			if e.Fault == trace.Promoted {
				name = e.Replicas[0]
			}
		}
	}
	return slices.Index(s.Bars, name)
}

// over returns the event at which the client of a request no longer waits for it; -1 if it always does.
func (s *Story) over(r *trace.Request) int {
	for i, e := range s.Events[max(r.Sent, 0):] {
		if e.Kind == trace.Crashed && e.Process == r.Process || e.Kind == trace.Returned && r.Call > 0 && e.Call == r.Call {
			return max(r.Sent, 0) + i
		}
	}
	return -1
}

// rowOf returns the row of an event: one that includes it, of its client and command if there are several, else
// the last one before it.
func rowOf(rows []Row, i int, e trace.Event) int {
	before, including := 0, -1
	for n, row := range rows {
		switch {
		case row.First < 0 || i < row.First || row.Last < i:
			if row.Last < i {
				before = n
			}
		case row.Event.Client == e.Client && len(row.Event.Command) > 0 && len(e.Command) > 0 && row.Event.Command[0] == e.Command[0]:
			return n
		case including < 0:
			including = n
		}
	}
	if including >= 0 {
		return including
	}
	return before
}
