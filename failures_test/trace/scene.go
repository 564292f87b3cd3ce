package trace

import (
	"maps"
	"slices"
	"time"
)

// Scene is the state after one event of a trace: which clients believe that they hold the lock,
// which keys Redis has, and which calls and requests are under way. It is immutable. [Trace.Scenes]
// returns the scenes of a trace.
type Scene struct {
	Trace  *Trace
	Before *Scene // the scene before the event; nil before the first
	Index  int    // of the event
	Event  *Event // the event itself
	Keys   []Key  // in Redis
	Copies []Key  // on the master and on each replica, if it has any
	KeysAt time.Duration
	Orders []Order
	// Calls has the Called event of each call under way, the oldest first.
	Calls []*Event
	// Began is the Called event of the call that the event has ended; its Kind is "" if it ended
	// none.
	Began *Event
	// UnderWay has the requests that have been sent and whose reply has not arrived.
	UnderWay []*Request
	// Request is the request of the event; nil if it has none.
	Request *Request

	clients   []clientState // as they appeared
	processes map[string]Condition
}

type clientState struct {
	name, process string
	holds         int // acquires minus unlocks
}

// Condition is the state of a process.
type Condition struct {
	Frozen, Dead, Cut bool
	Closed            bool // it has called Close
}

// Away reports whether the process is frozen, dead or without network.
func (c Condition) Away() bool { return c.Frozen || c.Dead || c.Cut }

// Request is a command on its way to Redis and back, or a write to the ledger, as known at a scene.
// The numbers are indices of events; -1: not yet.
type Request struct {
	ID        int
	Process   string
	Call      int
	Sent      int  // it left, or the write to the ledger began
	Executed  int  // Redis executed it, a fault answered it, or the ledger did
	Delivered int  // the reply reached the client
	Lost      int  // it, or its reply, was lost
	Paused    bool // its process was frozen or dead before it was executed
	Ledger    bool

	latest **Request // the newest state of the same request
}

// Final returns the newest known state of the request.
func (r *Request) Final() *Request { return *r.latest }

// noEvent is the value of Began if no call has ended.
var noEvent Event

// Scenes returns the scene after each event. It keeps them: when the trace has grown, it adds only
// those of the new events.
func (t *Trace) Scenes() []*Scene {
	if len(t.scenes) > 0 && t.scenes[0].Trace != t { // a copy of another trace
		t.scenes = nil
	}
	last := t.root()
	if made := len(t.scenes); made > 0 {
		last = t.scenes[made-1]
	} else {
		t.scenes = make([]*Scene, 0, len(t.Events))
	}
	chunk := make([]Scene, max(0, len(t.Events)-len(t.scenes)))
	for i := range chunk {
		last.advance(&chunk[i])
		last = &chunk[i]
		t.scenes = append(t.scenes, last)
	}
	return t.scenes[:len(t.Events)]
}

// End returns the scene after the last event of the trace.
func (t *Trace) End() *Scene {
	if all := t.Scenes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return t.root()
}

// root is the scene before the first event.
func (t *Trace) root() *Scene {
	return &Scene{Trace: t, Index: -1, Event: &noEvent, Began: &noEvent, processes: map[string]Condition{}}
}

// Until returns when the next event happens. At the last scene it returns the time of the last
// event.
func (s *Scene) Until() time.Duration {
	return s.Trace.Events[min(s.Index+1, len(s.Trace.Events)-1)].At
}

// advance fills in the next scene. Unchanged parts are shared.
func (s *Scene) advance(next *Scene) {
	*next = *s
	next.Before, next.Index, next.Began = s, s.Index+1, &noEvent
	e := &s.Trace.Events[next.Index]
	next.Event = e
	if e.Client != "" && s.index(e.Client) < 0 {
		next.clients = append(slices.Clip(s.clients), clientState{name: e.Client, process: e.Process})
	}
	next.track(e)
	switch e.Kind {
	case Called:
		next.Calls = append(slices.Clip(s.Calls), e)
		if e.Op == OpClose {
			next.change(e)
		}
		if e.Op == OpUnlock && s.Holds(e.Client) > 0 {
			next.setHolds(e.Client, s.Holds(e.Client)-1)
		}
	case Returned, Stored:
		if at := slices.IndexFunc(s.Calls, func(c *Event) bool { return c.Call == e.Call }); at >= 0 {
			next.Began = s.Calls[at]
			next.Calls = slices.Delete(slices.Clone(s.Calls), at, at+1)
		}
		if e.Acquires() {
			next.setHolds(e.Client, s.Holds(e.Client)+1)
		}
		if e.Kind == Stored {
			next.Orders = e.Orders
		}
	case Lost:
		next.setHolds(e.Client, 0)
	case Frozen, Thawed, Cut, Healed, Crashed:
		next.change(e)
	case Executed, Expired, Server, Arrived:
		next.Keys, next.Copies, next.KeysAt = e.Keys, e.Copies, e.At
	}
}

// Acquires reports whether the event is the return of an acquire that got the lock.
func (e *Event) Acquires() bool { return e.Kind == Returned && IsAcquire(e.Op) && e.Result.Held }

func (s *Scene) index(name string) int {
	return slices.IndexFunc(s.clients, func(l clientState) bool { return l.name == name })
}

func (s *Scene) setHolds(client string, n int) {
	s.clients = slices.Clone(s.clients)
	s.clients[s.index(client)].holds = n
}

// change applies an event to a process. A crash ends its holds and calls.
func (s *Scene) change(e *Event) {
	c := s.Condition(e.Process)
	switch e.Kind {
	case Called:
		c.Closed = true
	case Frozen, Thawed:
		c.Frozen = e.Kind == Frozen
	case Cut, Healed:
		c.Cut = e.Kind == Cut
	case Crashed:
		c = Condition{Dead: true}
		s.clients = slices.Clone(s.clients)
		for i := range s.clients {
			if s.clients[i].process == e.Process {
				s.clients[i].holds = 0
			}
		}
		s.Calls = slices.DeleteFunc(slices.Clone(s.Calls), func(call *Event) bool { return call.Process == e.Process })
	}
	s.processes = maps.Clone(s.processes)
	s.processes[e.Process] = c
	if c.Frozen || c.Dead {
		for i, r := range s.UnderWay {
			if r.Process == e.Process && r.Executed < 0 && r.Lost < 0 {
				held := *r
				held.Paused = true
				s.follow(i, &held)
			}
		}
	}
}

// track updates the request that the event is about.
func (s *Scene) track(e *Event) {
	s.Request = nil
	if e.Request == 0 {
		return
	}
	at := slices.IndexFunc(s.UnderWay, func(r *Request) bool { return r.ID == e.Request })
	var r Request
	if at >= 0 {
		r = *s.UnderWay[at]
	} else {
		c := s.Condition(e.Process)
		r = Request{
			ID: e.Request, Process: e.Process, Call: e.Call, Sent: -1, Executed: -1, Delivered: -1, Lost: -1, Paused: c.Frozen || c.Dead,
			Ledger: IsStore(e.Op), latest: new(*Request),
		}
	}
	switch e.Kind {
	case Called, Sent:
		r.Sent = s.Index
	case Executed, Refused:
		r.Executed = s.Index
	case Stored:
		r.Executed, r.Delivered = s.Index, s.Index
	case Delivered:
		r.Delivered = s.Index
	case Dropped:
		r.Lost = s.Index
	}
	s.Request = &r
	s.follow(at, &r)
}

// follow replaces a request in UnderWay, or adds it if at is negative. A request whose reply has
// arrived or was lost is removed.
func (s *Scene) follow(at int, r *Request) {
	*r.latest = r
	over := r.Delivered >= 0 || r.Lost >= 0
	switch {
	case at >= 0 && over:
		s.UnderWay = slices.Delete(slices.Clone(s.UnderWay), at, at+1)
	case at >= 0:
		s.UnderWay = slices.Clone(s.UnderWay)
		s.UnderWay[at] = r
	case !over:
		s.UnderWay = append(slices.Clip(s.UnderWay), r)
	}
}

// Call returns the call that the client has under way; ok is false if it has none.
func (s *Scene) Call(client string) (call *Event, ok bool) {
	for _, c := range slices.Backward(s.Calls) {
		if c.Client == client {
			return c, true
		}
	}
	return &noEvent, false
}

// Clients returns the clients so far, in order of appearance.
func (s *Scene) Clients() (names []string) {
	for _, l := range s.clients {
		names = append(names, l.name)
	}
	return names
}

// Process returns the process of a client.
func (s *Scene) Process(client string) string {
	if at := s.index(client); at >= 0 {
		return s.clients[at].process
	}
	return ""
}

// Condition returns the state of a process.
func (s *Scene) Condition(process string) Condition { return s.processes[process] }

// Holds returns how often the client believes to hold the lock. A hold begins with a Lock or TryLock
// that returns the lock. It ends when the client calls Unlock, learns that the hold is lost, or
// dies.
func (s *Scene) Holds(client string) int {
	if at := s.index(client); at >= 0 {
		return s.clients[at].holds
	}
	return 0
}

// Insiders returns the clients that believe to hold the lock, in order of appearance.
func (s *Scene) Insiders() (inside []string) {
	for _, l := range s.clients {
		if l.holds > 0 {
			inside = append(inside, l.name)
		}
	}
	return inside
}

// Others returns the insiders except one client, and except those of a lock with another name.
func (s *Scene) Others(client string) []string {
	return slices.DeleteFunc(s.Insiders(), func(other string) bool { return other == client || !s.Trace.SharesLock(client, other) })
}

// Believes reports whether any client of the process believes to hold the lock.
func (s *Scene) Believes(process string) bool {
	return slices.ContainsFunc(s.clients, func(l clientState) bool { return l.process == process && l.holds > 0 })
}
