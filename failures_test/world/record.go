package world

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// Now returns the time since the world began, in whole microseconds.
func (w *World) Now() time.Duration { return time.Since(w.start).Truncate(time.Microsecond) }

// record adds an event to the trace.
func (w *World) record(e trace.Event) {
	if w.closing {
		return
	}
	e.Step = len(w.trace.Events) + 1
	e.At = w.Now()
	if w.observer != nil {
		w.observer.observe(e)
	}
	w.trace.Events = append(w.trace.Events, e)
}

// late records a delay of the machine.
func (w *World) late(by time.Duration) {
	if !w.closing {
		w.trace.Late = max(w.trace.Late, by)
	}
}

func (c *Call) record(kind trace.Kind, e trace.Event) {
	e.Kind, e.Client, e.Process, e.Call, e.Op = kind, c.Client.Name, c.Client.process.name, c.ID, c.Op
	c.Client.world.record(e)
}

func (r *request) record(kind trace.Kind, e trace.Event) {
	w := r.wire.world
	if w.closing {
		return
	}
	e.Kind, e.Client, e.Process, e.Background = kind, r.Client, r.wire.process.name, r.Background
	e.Call, e.Op, e.Request, e.Server = r.callID(), r.Op, r.id, r.Server
	e.Command = r.words()
	if r.store == nil {
		source := r.source()
		e.Source = &source
	}
	w.record(e)
}

func (p *Process) record(kind trace.Kind, e trace.Event) {
	e.Kind, e.Client, e.Process = kind, p.clients[0].Name, p.name
	p.world.record(e)
}

// source returns the line of the lock that sent a request.
func (r *request) source() trace.Source { return r.stack.source(r.wire.world.config.SkipFrames) }

// callID returns the number of the call that sent a request; 0 for the background.
func (r *request) callID() int {
	if r.call == nil {
		return 0
	}
	return r.call.ID
}

// text returns a request as redis-cli would show it.
func (r *request) text() string { return strings.Join(r.words(), " ") }

// words returns the arguments of a request with owners by name.
func (r *request) words() []string { return r.wire.world.names.command(r.Args, r.Client) }

// allKeys returns the keys of all servers for the trace.
func (w *World) allKeys() (keys []trace.Key) {
	for _, n := range w.nodes {
		keys = append(keys, n.keys.keys(n.Name)...)
	}
	return keys
}

// keys returns the keys of the replica for the trace.
func (r *Replica) keys() []trace.Key {
	if r.has == nil {
		return nil
	}
	now := r.master.server.Now()
	maps.DeleteFunc(r.has.keys.state, func(_ string, k KeyState) bool { return !k.Expires.IsZero() && !k.Expires.After(now) })
	return r.has.keys.keys(r.Name)
}

// copiesAfter returns the keys of the master and of its replicas for the trace; nil without replicas.
func (w *World) copiesAfter() (all []trace.Key) {
	if len(w.trace.Replicated) > 0 {
		all = w.keys.keys(w.present)
		for _, r := range w.replicas {
			all = append(all, r.keys()...)
		}
	}
	return all
}

// refresh returns the changes of the server's keys; nothing in a [Test], and once the scenario has ended.
func (n *Node) refresh(by installer, lapse bool) []trace.Effect {
	if n.world.closing || n.world.isTest {
		return nil
	}
	return n.keys.refresh(by, lapse)
}

func (n *Node) record(e trace.Event, effects []trace.Effect) {
	e.Server, e.Effects, e.Keys = n.Name, effects, n.world.allKeys()
	e.Copies = n.world.copiesAfter()
	n.world.record(e)
}

// digest is a running hash.
type digest uint64

// add adds texts to the hash, each with its length.
func (d digest) add(texts ...string) digest {
	h := fnv.New64a()
	var before [8]byte
	binary.LittleEndian.PutUint64(before[:], uint64(d))
	_, _ = h.Write(before[:])
	for _, text := range texts {
		_, _ = h.Write([]byte(strconv.Itoa(len(text))))
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(text))
	}
	return digest(h.Sum64())
}

// observer is what the processes of a run have seen.
type observer struct {
	seen    map[string]digest // process → hash of what it has seen
	foreign digest            // hash of the changes of other processes' keys, for the rules
}

// observe records what a process has seen, and when. A process is deterministic: the same
// observations lead to the same state.
func (o *observer) observe(e trace.Event) {
	at := strconv.FormatInt(int64(e.At), 36)
	switch e.Kind {
	case trace.Delivered, trace.Dropped, trace.Refused, trace.Stored, trace.Returned, trace.Lost, trace.Called, trace.Cancelled, trace.Frozen, trace.Thawed, trace.Crashed, trace.Cut, trace.Healed:
		result, reply := "", e.Reply
		if e.Result != nil {
			result = e.Result.Error + strconv.FormatBool(e.Result.Held) + strconv.Itoa(e.Result.Count) + string(e.Result.Claim)
		}
		if e.Answer != nil {
			reply = e.Answer.String()
		}
		o.seen[e.Process] = o.seen[e.Process].add(at, string(e.Kind), e.Client, strconv.Itoa(e.Call), e.Op, e.Order+string(e.Moment)+string(e.Fault), reply, result, e.Line())
	}
	if e.Kind == trace.Executed && e.Command[0] == "WATCH" { // the EXEC depends on what changes from now on
		o.seen[e.Process] = o.seen[e.Process].add(at, strconv.FormatUint(uint64(o.foreign), 36))
	}
	for _, effect := range e.Effects {
		if effect.Owner.Process != e.Process {
			o.foreign = o.foreign.add(at, string(effect.Kind), effect.Key, effect.Owner.Label, e.Client)
		}
	}
}
