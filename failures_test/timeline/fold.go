package timeline

import (
	"fmt"
	"slices"

	"lockkata/failures_test/world"
)

// repetition is the last event of a run of commands and replies that are repeated with
// nothing else in between, beginning at first; first itself if there is none. Its commands may be
// of several clients and several kinds. Each kind gets the same answer each time, and one is sent
// three times at least.
func (s *Story) repetition(first int) (end int) {
	end = first
	if s.apart || s.Events[first].Kind != world.Sent {
		return end
	}
	times, replies := map[string]int{}, map[string]string{}
	underWay, most, all, again := 0, 0, 0, false
	for i := first; i < len(s.Events); i++ {
		e, r := s.Events[i], s.requests[i]
		switch {
		case e.Kind == world.Slept:
			continue
		case r == nil || r.Ledger || r.Sent < first || r.Struck < 0 || r.Delivered < 0 || s.Events[r.Delivered].At != s.Events[r.Sent].At:
			return end
		case r.Sent == i:
			underWay++
		case r.Struck == i:
			id := attempt(e)
			changesOwner := slices.ContainsFunc(e.Effects, func(x world.Effect) bool { return x.Kind != world.Leased })
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

// attempt is what two attempts have in common that are told together: the command and its key or script.
func attempt(e world.Event) string {
	return fmt.Sprint(e.Client, e.Call, e.Command[:min(2, len(e.Command))])
}

// repeat makes one label of each command of a repetition.
func (s *Story) repeat(first, end int) (labels []*Label) {
	of := map[string]*Label{}
	for i := first; i <= end; i++ {
		e, r := s.Events[i], s.requests[i]
		if e.Kind != world.Executed && e.Kind != world.Refused {
			continue
		}
		l := of[attempt(e)]
		if l == nil {
			l = &Label{First: first, Last: end, Event: e, Request: r, At: e.At, Answered: true}
			of[attempt(e)] = l
			labels = append(labels, l)
		}
		l.Until = e.At
		l.times++
		l.Event.Keys, l.Event.Effects = e.Keys, append(l.Event.Effects, e.Effects...)
	}
	return labels
}
