package timeline

import "lockkata/failures_test/world"

// exchange is a command with what became of it. The numbers are indices of
// events; -1 where nothing of the kind happened.
type exchange struct {
	sent   int  // it was sent, or the write to the ledger began
	struck int  // Redis executed it, a fault answered it, or the ledger did
	got    int  // the reply reached the client
	lost   int  // it, or its reply, was lost
	held   bool // its process stood still, or was dead, before it left
	ledger bool
}

// exchanges finds which events belong to one command. The second result tells for
// each event which exchange it is part of, nil for none.
func exchanges(events []world.Event) ([]*exchange, []*exchange) {
	var all []*exchange
	of := make([]*exchange, len(events))
	still := map[string]bool{} // processes
	open := func(i int, fits func(*exchange) bool) *exchange {
		// What comes right after another event of such a command belongs to that
		// one; an older one may never have arrived.
		if i > 0 && of[i-1] != nil && of[i-1].lost < 0 && isSame(events[i], events[i-1]) && fits(of[i-1]) {
			return of[i-1]
		}
		for _, x := range all {
			if x.lost < 0 && isSame(events[i], events[x.first()]) && fits(x) {
				return x
			}
		}
		x := &exchange{sent: -1, struck: -1, got: -1, lost: -1} // a trace that begins in the middle, or a push
		all = append(all, x)
		return x
	}
	for i, e := range events {
		var x *exchange
		switch e.Kind {
		case world.Called:
			if e.Op != world.OpCheck && e.Op != world.OpInsert {
				continue
			}
			x = &exchange{sent: i, struck: -1, got: -1, lost: -1, ledger: true, held: still[e.Process]}
			all = append(all, x)
		case world.Sent:
			x = &exchange{sent: i, struck: -1, got: -1, lost: -1, held: still[e.Process]}
			all = append(all, x)
		case world.Executed, world.Refused, world.Stored:
			x = open(i, func(x *exchange) bool { return x.struck < 0 })
			x.struck = i
			x.ledger = e.Kind == world.Stored
			if x.ledger {
				x.got = i
			}
		case world.Delivered:
			x = open(i, func(x *exchange) bool { return x.struck >= 0 && x.got < 0 })
			x.got = i
		case world.Dropped:
			if len(e.Command) == 0 {
				continue
			}
			x = open(i, func(x *exchange) bool { return x.got < 0 })
			x.lost = i
		case world.Frozen:
			still[e.Process] = true
			for _, x := range all {
				held := x.struck < 0 && x.lost < 0 && events[x.sent].Process == e.Process
				x.held = x.held || held
			}
			continue
		case world.Thawed:
			still[e.Process] = false
			continue
		case world.Crashed: // what its goroutines still do reaches nobody
			still[e.Process] = true
			continue
		default:
			continue
		}
		of[i] = x
	}
	return all, of
}

// unhurried is the trace with each command sent only just before it is executed, if
// nothing but other commands came in between, and no time passed: in the picture
// they are one after the other, and not all of them late.
func unhurried(trace *world.Trace) *world.Trace {
	_, of := exchanges(trace.Events)
	var events []world.Event
	put := make([]bool, len(trace.Events))
	for i, e := range trace.Events {
		x := of[i]
		switch {
		case x != nil && x.sent == i && isPlain(trace.Events, i, x.struck):
			continue
		case x != nil && x.struck == i && x.sent >= 0 && !put[x.sent]:
			events = append(events, trace.Events[x.sent])
		}
		put[i] = true
		events = append(events, e)
	}
	copied := *trace
	copied.Events = events
	return &copied
}

// isPlain tells whether between two events there are only commands, replies and
// calls that come back, of the same moment.
func isPlain(events []world.Event, from, to int) bool {
	if to < 0 || events[from].Kind != world.Sent {
		return false
	}
	for _, e := range events[from:to] {
		switch e.Kind {
		case world.Sent, world.Executed, world.Delivered, world.Returned:
		default:
			return false
		}
	}
	return events[from].At == events[to].At
}

func (x *exchange) first() int {
	for _, i := range []int{x.sent, x.struck, x.got, x.lost} {
		if i >= 0 {
			return i
		}
	}
	return 0
}

// isSame tells whether two events can be of one command. An owner's value has its
// name only once it is stored, so the commands are compared by their names.
func isSame(a, b world.Event) bool {
	return a.Client == b.Client && a.Call == b.Call && a.Background == b.Background && verb(a) == verb(b)
}

func verb(e world.Event) string {
	switch {
	case len(e.Command) > 1 && e.Command[0] == "EVALSHA":
		return e.Command[1]
	case len(e.Command) > 0:
		return e.Command[0]
	case e.Op == world.OpCheck:
		return "CHECK"
	case e.Op == world.OpInsert:
		return "INSERT"
	}
	return ""
}
