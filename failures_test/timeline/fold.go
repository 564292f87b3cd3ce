package timeline

import (
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/trace"
)

// repetition returns the last event of a run of commands and replies that begins at first and is
// repeated with nothing else in between, or first if nothing is repeated. The commands may be of
// several clients and kinds. Each kind gets the same reply each time, and one of them is sent at
// least three times.
func (s *Story) repetition(first int) (end int) {
	end = first
	if s.oneLabelPerEvent || s.Events[first].Kind != trace.Sent {
		return end
	}
	times, replies := map[string]int{}, map[string]string{}
	underWay, most, all, again := 0, 0, 0, false
	for i := first; i < len(s.Events); i++ {
		e, r := s.Events[i], s.requests[i]
		switch {
		case e.Kind == trace.Slept:
			continue
		case r == nil || r.Ledger || r.Sent < first || r.Executed < 0 || r.Delivered < 0 || s.Events[r.Delivered].At != s.Events[r.Sent].At:
			return end
		case r.Sent == i:
			underWay++
		case r.Executed == i:
			id := attempt(e)
			changesOwner := slices.ContainsFunc(e.Effects, func(x trace.Effect) bool { return x.Kind != trace.Leased })
			if reply, seen := replies[id]; seen && reply != s.reply(e) || changesOwner {
				return end
			}
			replies[id] = s.reply(e)
			times[id]++
			all++
			most, again = max(most, times[id]), times[id] > 1
		case r.Delivered == i:
			underWay--
			if again && most >= 3 && len(times) <= all/2 && underWay == 0 {
				end = i
			}
		default:
			return end
		}
	}
	return end
}

// spread adds the events to a label that follow it and are the same on other servers.
func (s *Story) spread(l *Label) {
	first, servers := l.Event, []string{l.Event.Server}
	if s.oneLabelPerEvent || first.Server == "" || first.Kind == trace.Server {
		return
	}
	step := 1
	isRead := func(i int) bool { r := s.requests[i]; return r != nil && r.Executed == i && r.Delivered == i+1 }
	if isRead(l.First) {
		step = 2
	}
	for i := l.First + step; i < len(s.Events); i += step {
		e := s.Events[i]
		if e.Kind != first.Kind || e.Call != first.Call || e.At != first.At || e.Line() != first.Line() || e.Reply != first.Reply ||
			isRead(i) != isRead(l.First) || s.requests[i] != nil && s.isLate(s.requests[i]) != s.isLate(l.Request) {
			break
		}
		servers, l.Events = append(servers, e.Server), append(l.Events, i)
		l.Event.Effects = append(slices.Clip(l.Event.Effects), e.Effects...)
		l.Last = i + step - 1
	}
	l.Event.Server, l.Servers = s.several(servers), servers
}

// several returns the names of servers in short: "R1–R3, R5".
func (s *Story) several(names []string) string {
	var parts []string
	for i := 0; i < len(names); {
		from, end := slices.Index(s.Bars, names[i]), i+1
		for end < len(names) && s.Bars[from+end-i] == names[end] {
			end++
		}
		part := names[i]
		if end > i+1 {
			part += "–" + names[end-1]
		}
		parts, i = append(parts, part), end
	}
	return strings.Join(parts, ", ")
}

// attempt returns the same text for commands that share a label: client, call, command, and key or script. A
// subscription is shown without its channel.
func attempt(e trace.Event) string {
	words := 2
	if isSubscription(e) {
		words = 1
	}
	return fmt.Sprint(e.Client, e.Call, e.Command[:min(words, len(e.Command))])
}

// repeat returns one label for each kind of command in a repetition. Labels of several kinds all
// take the time of the whole repetition, since their commands take turns.
func (s *Story) repeat(first, end int) (labels []*Label) {
	of, servers := map[string]*Label{}, map[*Label][]string{}
	for i := first; i <= end; i++ {
		e, r := s.Events[i], s.requests[i]
		if e.Kind != trace.Executed && e.Kind != trace.Refused {
			continue
		}
		l := of[attempt(e)]
		if l == nil {
			l = &Label{First: first, Last: end, Event: e, Request: r, At: e.At, Answered: true}
			of[attempt(e)] = l
			labels = append(labels, l)
		}
		l.Until = e.At
		l.Events = append(l.Events, i)
		if !slices.Contains(servers[l], e.Server) {
			servers[l] = append(servers[l], e.Server)
		}
		l.Event.Keys, l.Event.Effects = e.Keys, append(l.Event.Effects, e.Effects...)
	}
	for l, on := range servers {
		if slices.Sort(on); on[0] != "" { // each server got the same number of commands
			l.Event.Server, l.Servers = s.several(on), on
		}
	}
	if len(labels) > 1 {
		for _, l := range labels {
			l.At, l.Until = s.Events[first].At, s.Events[end].At
		}
	}
	return labels
}
