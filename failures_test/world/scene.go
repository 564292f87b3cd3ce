package world

import (
	"slices"
	"time"
)

// Scene is how things stand just after one event of a trace: who believes to be inside
// the lock, what Redis holds, and what is under way. [Trace.Begin] makes one, and [Scene.Next] moves it on.
type Scene struct {
	Trace  *Trace
	Index  int   // of the event
	Event  Event // that just happened
	Keys   []Key // in Redis
	KeysAt time.Duration
	Orders []Order
	// Lanes are those of the trace so far, as they appeared.
	Lanes []string
	// Held is what Holds was just before the event, of the event's own client.
	Held int
	// Calls are those under way, by the events with which they began, the oldest first.
	Calls []Event
	// Began is the event with which the call began that the event has ended; its Kind is ""
	// if it has ended none.
	Began Event
	// UnderWay are the requests that have been sent, and whose reply has not arrived.
	UnderWay []*Request
	// Request is the one that the event is about; nil if it is about none.
	Request *Request

	process   map[string]string // lane → process
	holds     map[string]int    // lane → how often it took the lock and has not given it back
	processes map[string]Condition
}

// Condition is how a process is.
type Condition struct {
	Frozen, Dead, Cut bool
	Closed            bool // it has called Close
}

// Away tells whether the process can notice nothing.
func (c Condition) Away() bool { return c.Frozen || c.Dead || c.Cut }

// Request is a command on its way to Redis and back, or a write to the ledger. The
// numbers are indices of events; -1 where nothing of the kind happened.
type Request struct {
	ID        int
	Process   string
	Call      int
	Sent      int  // it left, or the write to the ledger began
	Struck    int  // Redis executed it, a fault answered it, or the ledger did
	Delivered int  // the reply reached the client
	Lost      int  // it, or its reply, was lost
	Held      bool // its process stood still, or was dead, before it was executed
	Ledger    bool
}

// Begin is the scene before the first event; Next moves it on, and returns false after
// the last.
func (t *Trace) Begin() *Scene {
	return &Scene{
		Trace: t, Index: -1, Lanes: make([]string, 0, 4),
		process: map[string]string{}, holds: map[string]int{}, processes: map[string]Condition{},
	}
}

// Next moves the scene on by an event.
func (s *Scene) Next() bool {
	if s.Index+1 >= len(s.Trace.Events) {
		return false
	}
	s.Index++
	s.Event = s.Trace.Events[s.Index]
	s.follow(&s.Event)
	return true
}

// Until is when the next event happens: so long things stand as they do. After the last
// one it is now.
func (s *Scene) Until() time.Duration {
	return s.Trace.Events[min(s.Index+1, len(s.Trace.Events)-1)].At
}

func (s *Scene) follow(e *Event) {
	if _, known := s.process[e.Client]; !known && e.Client != "" {
		s.Lanes = append(s.Lanes, e.Client)
		s.process[e.Client] = e.Process
	}
	s.Held, s.Began = s.holds[e.Client], Event{}
	s.track(e)
	switch e.Kind {
	case Called:
		s.Calls = append(s.Calls, *e)
		if e.Op == OpClose {
			s.change(e)
		}
		if e.Op == OpUnlock && s.holds[e.Client] > 0 {
			s.holds[e.Client]--
		}
	case Returned, Stored:
		s.Calls = slices.DeleteFunc(s.Calls, func(c Event) bool {
			if c.Call == e.Call {
				s.Began = c
			}
			return c.Call == e.Call
		})
		if e.Kind == Returned && e.Acquires() {
			s.holds[e.Client]++
		}
		if e.Kind == Stored {
			s.Orders = e.Orders
		}
	case Lost:
		s.holds[e.Client] = 0
	case Frozen, Thawed, Cut, Healed, Crashed:
		s.change(e)
	case Executed, Expired, Server:
		s.Keys, s.KeysAt = e.Keys, e.At
	}
}

// Acquires tells whether the event gives its client the lock.
func (e Event) Acquires() bool { return e.Kind == Returned && IsAcquire(e.Op) && e.Result.Held }

// change notes what became of a process. All that a dead one believed, it believes no
// more.
func (s *Scene) change(e *Event) {
	c := s.processes[e.Process]
	switch e.Kind {
	case Called:
		c.Closed = true
	case Frozen, Thawed:
		c.Frozen = e.Kind == Frozen
	case Cut, Healed:
		c.Cut = e.Kind == Cut
	case Crashed:
		c = Condition{Dead: true}
		for lane, process := range s.process {
			if process == e.Process {
				s.holds[lane] = 0
			}
		}
		s.Calls = slices.DeleteFunc(s.Calls, func(call Event) bool { return call.Process == e.Process })
	}
	s.processes[e.Process] = c
	for _, r := range s.UnderWay {
		r.Held = r.Held || r.Process == e.Process && (c.Frozen || c.Dead) && r.Struck < 0 && r.Lost < 0
	}
}

// track follows the request that the event is about.
func (s *Scene) track(e *Event) {
	s.Request = nil
	if e.Request == 0 {
		return
	}
	at := slices.IndexFunc(s.UnderWay, func(r *Request) bool { return r.ID == e.Request })
	if at < 0 {
		c := s.Condition(e.Process)
		s.UnderWay = append(s.UnderWay, &Request{
			ID: e.Request, Process: e.Process, Call: e.Call, Sent: -1, Struck: -1, Delivered: -1, Lost: -1, Held: c.Frozen || c.Dead,
			Ledger: e.Op == OpCheck || e.Op == OpInsert,
		})
		at = len(s.UnderWay) - 1
	}
	r := s.UnderWay[at]
	s.Request = r
	switch e.Kind {
	case Called, Sent:
		r.Sent = s.Index
	case Executed, Refused:
		r.Struck = s.Index
	case Stored:
		r.Struck, r.Delivered = s.Index, s.Index
	case Delivered:
		r.Delivered = s.Index
	case Dropped:
		r.Lost = s.Index
	}
	if r.Delivered >= 0 || r.Lost >= 0 {
		s.UnderWay = slices.Delete(s.UnderWay, at, at+1)
	}
}

// Call is the call that the lane is in; ok is false if it is in none.
func (s *Scene) Call(lane string) (call Event, ok bool) {
	for _, c := range slices.Backward(s.Calls) {
		if c.Client == lane {
			return c, true
		}
	}
	return Event{}, false
}

// Process is the process of a lane.
func (s *Scene) Process(lane string) string { return s.process[lane] }

// Condition is how a process is.
func (s *Scene) Condition(process string) Condition { return s.processes[process] }

// Holds is how often the lane believes to hold the lock: it begins with a Lock or TryLock
// that returns the lock, and ends when the client calls Unlock, is told that its hold is
// lost, or dies.
func (s *Scene) Holds(lane string) int { return s.holds[lane] }

// Insiders are the lanes that believe to hold the lock, as they appeared.
func (s *Scene) Insiders() []string { return s.Others("") }

// Others are the insiders but for one lane.
func (s *Scene) Others(lane string) []string {
	var inside []string
	for _, l := range s.Lanes {
		if l != lane && s.holds[l] > 0 {
			inside = append(inside, l)
		}
	}
	return inside
}

// Believes tells whether any lane of that process believes to hold the lock.
func (s *Scene) Believes(process string) bool {
	return slices.ContainsFunc(s.Lanes, func(lane string) bool { return s.process[lane] == process && s.holds[lane] > 0 })
}
