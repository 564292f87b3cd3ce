package world

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"lockkata/failures_test/trace"
)

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

// Observe starts to record what [World.Digest] needs.
func (w *World) Observe() { w.seen = map[string]digest{} }

// observe records what a process has seen, and when. A process is deterministic: the same
// observations lead to the same state. Changes of another process's keys are recorded separately,
// for the monitors.
func (w *World) observe(e trace.Event) {
	at := strconv.FormatInt(int64(e.At), 36)
	switch e.Kind {
	case trace.Delivered, trace.Dropped, trace.Refused, trace.Stored, trace.Returned, trace.Lost, trace.Called, trace.Cancelled, trace.Frozen, trace.Thawed, trace.Crashed, trace.Cut, trace.Healed:
		result := ""
		if e.Result != nil {
			result = e.Result.Error + strconv.FormatBool(e.Result.Held) + strconv.Itoa(e.Result.Count) + string(e.Result.Claim)
		}
		seen := w.seen[e.Process].add(at, string(e.Kind), e.Client, strconv.Itoa(e.Call), e.Op, e.Order+string(e.Moment)+string(e.Fault), e.Reply, result, e.Line())
		w.seen[e.Process] = seen
	}
	for _, effect := range e.Effects {
		if effect.Owner.Process != e.Process {
			w.foreign = w.foreign.add(at, string(effect.Kind), effect.Key, effect.Owner.Label, e.Client)
		}
	}
}

// Digest returns a hash of the run's state and of more: runs with equal digests continue equally.
func (w *World) Digest(more ...string) uint64 {
	d := w.foreign.add(more...).add(strconv.FormatInt(int64(w.Now()), 36), strconv.FormatInt(w.server.Now().UnixNano(), 36))
	for _, k := range w.allKeys() {
		d = d.add(k.Name, k.Type, k.Value(), k.Owner.Label, strconv.FormatInt(int64(k.TTL), 36))
	}
	for _, o := range w.ledger.orders {
		d = d.add(o.Name, o.Client, strconv.FormatInt(o.Token, 36))
	}
	d = d.add(strconv.FormatInt(w.ledger.highest, 36), w.ledger.holder)
	if len(w.ledger.open)+len(w.ledger.read) > 0 {
		d = d.add(fmt.Sprint(w.ledger.open, w.ledger.read))
	}
	for _, name := range slices.Sorted(maps.Keys(w.seen)) {
		d = d.add(name, strconv.FormatUint(uint64(w.seen[name]), 36))
	}
	for _, p := range w.processes {
		var waiting []string
		for _, c := range p.wires {
			if len(c.requests) == 0 && len(c.replies) == 0 {
				continue
			}
			on := ""
			for _, r := range c.requests {
				on += "<" + r.order + r.Op + strconv.Itoa(r.callID())
			}
			for _, r := range c.replies {
				on += ">" + r.text
			}
			waiting = append(waiting, on)
		}
		slices.Sort(waiting)
		d = d.add(p.name, strconv.FormatBool(p.isFrozen()), strconv.FormatBool(p.crashed)).add(waiting...)
	}
	return uint64(d)
}
