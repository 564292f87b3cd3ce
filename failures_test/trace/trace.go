package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of an [Event].
type Kind string

// The kinds of events, in the order in which they come in the life of a call.
const (
	Called    Kind = "called"    // a client called Lock, TryLock, Unlock …, or began a write to the ledger
	Sent      Kind = "sent"      // a command left the client
	Executed  Kind = "executed"  // Redis ran a command
	Refused   Kind = "refused"   // a fault answered instead of Redis
	Delivered Kind = "delivered" // the reply, or a pushed message, reached the client
	Dropped   Kind = "dropped"   // the reply was lost and the connection broken
	Stored    Kind = "stored"    // the ledger answered
	Returned  Kind = "returned"  // the call returned
	Lost      Kind = "lost"      // the lock reported to its holder that the hold is lost
	Ended     Kind = "ended"     // the context of a hold ended, for another reason
	Blocked   Kind = "blocked"   // the call has not returned, and the scenario stops waiting for it
	Frozen    Kind = "frozen"    // the whole process is paused
	Thawed    Kind = "thawed"
	Crashed   Kind = "crashed" // the process is dead
	Cut       Kind = "cut"     // the process has no network
	Healed    Kind = "healed"
	Delayed   Kind = "delayed" // a command or a reply arrives later
	Cancelled Kind = "cancelled"
	Slept     Kind = "slept"   // the scenario let time pass
	Expired   Kind = "expired" // the lease of a key ended
	Server    Kind = "server"  // something happened to Redis: flush, eviction, restart, failover, clock
	Arrived   Kind = "arrived" // writes of the master have reached replicas
)

// Event is one thing that happened.
type Event struct {
	Step       int           `json:"step"`
	At         time.Duration `json:"at_ns"` // fake time since the world began
	Kind       Kind          `json:"kind"`
	Client     string        `json:"client,omitempty"`
	Process    string        `json:"process,omitempty"`
	Call       int           `json:"call,omitempty"`       // the call it belongs to, from 1; 0 = none
	Request    int           `json:"request,omitempty"`    // the command, or write to the ledger, that it is about, from 1; 0 = none
	Background bool          `json:"background,omitempty"` // sent by a goroutine the lock started itself
	Op         string        `json:"op,omitempty"`         // the call's name: Lock, TryLock, Unlock, Check, Insert
	Command    []string      `json:"command,omitempty"`    // with owners by name: SET lock:order:1001 A1 NX PX 30000
	Reply      string        `json:"reply,omitempty"`
	Answer     *Answer       `json:"answer,omitempty"`   // of Stored: the ledger's
	Result     *Result       `json:"result,omitempty"`   // of Returned
	Bound      time.Duration `json:"bound_ns,omitempty"` // how long a call waits at most, a sleep or a delay lasts; how far a clock jumps
	CtxDone    bool          `json:"ctx_done,omitempty"` // of Called: the call's context was already cancelled
	Effects    Effects       `json:"effects,omitempty"`
	Keys       []Key         `json:"keys,omitempty"`     // in Redis after this step
	Copies     []Key         `json:"copies,omitempty"`   // with Keys: those of the master and of each replica
	Orders     []Order       `json:"orders,omitempty"`   // of Stored: in the ledger after this step
	Source     *Source       `json:"source,omitempty"`   // of a command: the line that sent it; of Returned: the line at which the call panicked
	Moment     Moment        `json:"moment,omitempty"`   // of a fault at a Command: where the Command was
	Order      string        `json:"order,omitempty"`    // of Called: the order that it checks or inserts
	Server     string        `json:"server,omitempty"`   // its name, if there are several
	Fault      ServerFault   `json:"fault,omitempty"`    // of Server; of Dropped: Gone if Redis was down
	Replicas   []string      `json:"replicas,omitempty"` // those that it is about
	// Published is the step of the command that published a message: of Executed its own step, of Delivered
	// and Dropped that of the message; 0 = none.
	Published int      `json:"published,omitempty"`
	Listeners []string `json:"listeners,omitempty"` // of a command that published: the clients that Redis pushed it to
}

// Moment is the position of a command when a fault strikes.
type Moment string

// The moments.
const (
	BeforeCommand Moment = "before" // it is about to be executed
	AfterCommand  Moment = "after"  // it has been executed, and its reply is on its way
)

// Result is what a call returned to its caller.
type Result struct {
	Held  bool `json:"held"`            // Lock and TryLock: the caller now holds the lock
	Count int  `json:"count,omitempty"` // HoldCount: the answer
	// Subscribed is how many connections of the process are subscribed.
	Subscribed int    `json:"subscribed,omitempty"`
	Error      string `json:"error,omitempty"`
	Claim      Claim  `json:"claim"`
	Err        error  `json:"-"` // Error as the call returned it
}

// Claim is the statement of a result about the lock.
type Claim string

// The claims.
const (
	ClaimDone    Claim = "done"    // success
	ClaimRefused Claim = "refused" // another client holds the lock, or the caller does not hold it
	ClaimUnknown Claim = "unknown" // the context or the network ended the call: it may have taken effect
	ClaimBoth    Claim = "both"    // TryLock returned true and an error
	ClaimPanic   Claim = "panic"
)

// EffectKind is the kind of an [Effect].
type EffectKind string

// The effects.
const (
	Installed   EffectKind = "installed"   // the key, or an owner's field, is new
	Removed     EffectKind = "removed"     // it was deleted
	Overwritten EffectKind = "overwritten" // it has another value
	Leased      EffectKind = "leased"      // it got a new time to live
	Persisted   EffectKind = "persisted"   // it lost its time to live
	Lapsed      EffectKind = "lapsed"      // its time to live ended
	Counted     EffectKind = "counted"     // an owner's count in it changed
)

// Effect is a change of one key. Owner is who had installed the entry; for Installed it is the new
// owner.
type Effect struct {
	Kind  EffectKind `json:"kind"`
	Key   string     `json:"key"`
	Owner Owner      `json:"owner"`
}

// Effects are the changes of one step.
type Effects []Effect

// Include reports whether one of the effects is of one of these kinds.
func (all Effects) Include(kinds ...EffectKind) bool {
	return slices.ContainsFunc(all, func(e Effect) bool { return slices.Contains(kinds, e.Kind) })
}

// Owner is one installation of a key, or of a field of a hash.
type Owner struct {
	Label   string `json:"label"` // A1: the first installation by A
	Client  string `json:"client"`
	Process string `json:"process"`
	Call    int    `json:"call"`             // the call that installed it
	Shares  string `json:"shares,omitempty"` // label of the first installation of the same value, if that is another one
}

// Value returns the label of the first installation of the same value: it is equal for two owners
// that have written the same value.
func (o Owner) Value() string { return cmp.Or(o.Shares, o.Label) }

// Key is a key in Redis at one moment.
type Key struct {
	Name    string        `json:"name"`
	Type    string        `json:"type"`
	Entries []Entry       `json:"entries"`
	Owner   Owner         `json:"owner"` // of the first entry that has one
	Server  string        `json:"server,omitempty"`
	TTL     time.Duration `json:"ttl_ns"` // NoTTL: the key never expires
}

// Entry is a field of a hash, or the value of another key. A random value is shown as its owner's
// label.
type Entry struct {
	Field  string `json:"field,omitempty"`
	Value  string `json:"value"`
	Owner  Owner  `json:"-"`
	ID     string `json:"-"` // what identifies the owner in the key: the field or the value; "" if neither does
	Counts bool   `json:"-"` // the value is the number of the owner's holds
}

// Value returns the key's entries as text: "A1", or "A1=2 B1=1" for a hash.
func (k Key) Value() string {
	var parts []string
	for _, e := range k.Entries {
		if e.Field != "" {
			e.Value = e.Field + "=" + e.Value
		}
		parts = append(parts, e.Value)
	}
	return strings.Join(parts, " ")
}

// NoTTL is the TTL of a key that never expires.
const NoTTL time.Duration = -1

// Order is a row of the ledger.
type Order struct {
	Name   string `json:"name"`
	Client string `json:"client"`
	Token  int64  `json:"token,omitempty"`
	// Version is the version that the client had read, if the ledger has a VersionGuard.
	Version int `json:"version,omitempty"`
	// Request is the key of the request, if the ledger has an IdempotencyGuard.
	Request string `json:"request,omitempty"`
}

// Trace is everything that happened in one run.
type Trace struct {
	Lock    string        `json:"lock"` // the lock's name
	Lease   time.Duration `json:"lease_ns"`
	Slack   time.Duration `json:"slack_ns,omitempty"` // how late an event may be: 0 in fake time
	Late    time.Duration `json:"late_ns,omitempty"`  // the longest delay that the machine added
	Clients []string      `json:"clients"`            // their names, in order of appearance
	// OtherLocks has the lock names of the clients that use another lock, or two, in the order in
	// which they take them.
	OtherLocks map[string][]string `json:"other_locks,omitempty"`
	Servers    []string            `json:"servers,omitempty"`    // their names, if there are several
	Replicated []string            `json:"replicated,omitempty"` // the names of the master and of its replicas, if it has any
	Fenced     bool                `json:"fenced"`               // the ledger refuses stale tokens
	Missed     []string            `json:"missed,omitempty"`     // faults whose command was never sent
	Events     []Event             `json:"events"`

	scenes []*Scene // see Scenes
}

// Locks returns the names of the locks that a client takes, in that order.
func (t *Trace) Locks(client string) []string {
	if names, other := t.OtherLocks[client]; other {
		return names
	}
	return []string{t.Lock}
}

// SharesLock reports whether two clients use a lock of the same name.
func (t *Trace) SharesLock(a, b string) bool {
	return slices.ContainsFunc(t.Locks(a), func(name string) bool { return slices.Contains(t.Locks(b), name) })
}

// IsMajority reports whether that many servers are more than half of all.
func (t *Trace) IsMajority(servers int) bool { return servers > len(t.Servers)/2 }

// UpTo returns the trace of the first events.
func (t *Trace) UpTo(events int) *Trace {
	part := *t
	part.Events = t.Events[:events:events]
	return &part
}

// LostBefore returns the index of the event at which the command of event i was lost when the same
// call sent it before; -1 if it was not.
func (t *Trace) LostBefore(i int) int {
	again := t.Events[i]
	for at, e := range t.Events[:i] {
		if e.Kind == Dropped && e.Call == again.Call && e.Call > 0 && e.Server == again.Server && slices.Equal(e.Command, again.Command) {
			return at
		}
	}
	return -1
}

// LockKey returns the first key that a client installed, or "".
func (t *Trace) LockKey() string { return t.keyBesides("") }

// OtherKey returns the first key besides LockKey that a client installed, if clients take two locks,
// or "".
func (t *Trace) OtherKey() string {
	if !slices.ContainsFunc(t.Clients, func(client string) bool { return len(t.Locks(client)) > 1 }) {
		return ""
	}
	return t.keyBesides(t.LockKey())
}

func (t *Trace) keyBesides(other string) string {
	for _, e := range t.Events {
		for _, x := range e.Effects {
			if x.Kind == Installed && x.Key != other {
				return x.Key
			}
		}
	}
	return ""
}

// Bytes returns the trace as JSON. It is the same for the same run.
func (t *Trace) Bytes() []byte {
	raw, err := json.Marshal(t)
	if err != nil {
		panic("trace: a trace is always JSON: " + err.Error())
	}
	return raw
}

// ErrorPrefix marks an error of Redis in the text of a reply.
const ErrorPrefix = "(error) "

// IsError reports whether the reply is an error of Redis.
func (e *Event) IsError() bool { return strings.HasPrefix(e.Reply, ErrorPrefix) }

// Line returns the event's command as redis-cli would show it.
func (e Event) Line() string { return strings.Join(e.Command, " ") }
