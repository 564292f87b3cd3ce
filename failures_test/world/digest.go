package world

import (
	"encoding/binary"
	"hash/fnv"
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
