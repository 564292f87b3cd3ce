package world

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Command is a command on the wire, as a [Match] sees it.
type Command struct {
	Args       []string
	Name       string // in capitals
	Op         string // the call that sent it: Lock, TryLock, Unlock, Insert …; "" = a goroutine of the lock's own
	Write      bool   // it can change something; scripts can
	Background bool
	Effects    []Effect // what it did; empty before it is executed
	Lane       string
	Server     string // see [Node.Name]
}

// Match chooses commands.
type Match func(Command) bool

// Any matches every command to Redis.
func Any(c Command) bool { return !IsStore(c.Name) }

// Write matches a command to Redis that can change something.
func Write(c Command) bool { return Any(c) && c.Write }

// Background matches what a goroutine of the lock's own sends: its watchdog.
func Background(c Command) bool { return c.Background }

// Installs matches a command that put a new key into Redis.
func Installs(c Command) bool { return c.did(Installed) }

// Extends matches a renewal that gave a key a new lease.
func Extends(c Command) bool { return c.Background && c.did(Leased) }

// Insert matches the write to the ledger.
func Insert(c Command) bool { return c.Name == OpInsert }

// Named matches a command by its name.
func Named(name string) Match {
	return func(c Command) bool { return Any(c) && c.Name == strings.ToUpper(name) }
}

// Of narrows a match to the commands of one operation, such as OpUnlock.
func Of(op string, m Match) Match {
	return func(c Command) bool { return c.Op == op && m(c) }
}

// On narrows a match to the commands that go to some of the servers.
func On(m Match, nodes ...*Node) Match {
	return func(c Command) bool {
		return m(c) && slices.ContainsFunc(nodes, func(n *Node) bool { return n.Name == c.Server })
	}
}

// CrossesSlots matches a command with keys in different slots of a Cluster, which refuses it. The
// slot of a key depends on its hash tag, the first part in braces, or on the whole key.
func CrossesSlots(c Command) bool {
	keys := c.Args[1:]
	switch {
	case strings.HasPrefix(c.Name, "EVAL") && len(c.Args) > 2:
		n, _ := strconv.Atoi(c.Args[2])
		keys = c.Args[3:min(3+n, len(c.Args))]
	case !slices.Contains([]string{"DEL", "EXISTS", "MGET", "UNLINK"}, c.Name):
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return hashTag(key) != hashTag(keys[0]) })
}

func hashTag(key string) string {
	_, braced, _ := strings.Cut(key, "{")
	if tag, _, found := strings.Cut(braced, "}"); found && tag != "" {
		return tag
	}
	return key
}

// Nth matches only the nth command that m matches, counted from 1. It counts as
// it is asked, so it is good for one fault.
func Nth(n int, m Match) Match {
	seen := 0
	return func(c Command) bool {
		if !m(c) {
			return false
		}
		seen++
		return seen == n
	}
}

func (c Command) did(kind EffectKind) bool {
	return slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Kind == kind })
}

// Grants matches the command with which an acquire is complete: after it, the
// key is there and has a lease. In stage 1 that is PEXPIRE, not SETNX.
func (w *World) Grants(c Command) bool {
	if !c.did(Installed) && !c.did(Leased) || c.Op == OpUnlock {
		return false
	}
	for _, k := range w.of(c).keys.state {
		if !k.Expires.IsZero() {
			return true
		}
	}
	return false
}

// Has matches what is sent while the client has a key with a lease in Redis.
func (c *Client) Has(sent Command) bool {
	keys := c.world.of(sent).keys
	for name, k := range keys.state {
		if !k.Expires.IsZero() && keys.ownerOf(name, k).Client == c.Name {
			return true
		}
	}
	return false
}

// Renews matches a renewal that is due: a write of a goroutine of the lock's own, to keep a
// lease that is a while old. A lock may renew at once too.
func (w *World) Renews(c Command) bool {
	on := w.of(c)
	old := on.server.Now().Add(w.Lease - w.Lease/15)
	for _, k := range on.keys.state {
		if !k.Expires.IsZero() && k.Expires.Before(old) {
			return c.Background && Write(c)
		}
	}
	return false
}

// Fault is a fault that waits for its command: a client, a moment, a command, and what it does.
type Fault struct {
	client *Client
	moment Moment
	match  Match
	times  int // how often it still strikes; < 0: always
	ifSent bool
	act    func(*World, *request)
	missed string // what is to be told if it never strikes; "": nothing
}

// Before names the moment when a command that matches is about to be executed.
func (c *Client) Before(m Match) *Fault {
	return &Fault{client: c, moment: BeforeCommand, match: m, times: 1}
}

// After names the moment when a command that matches has been executed and its
// reply has not yet reached the client.
func (c *Client) After(m Match) *Fault {
	return &Fault{client: c, moment: AfterCommand, match: m, times: 1}
}

// Always makes the fault strike each time; without it, it strikes once.
func (f *Fault) Always() *Fault { f.times = -1; return f }

// IfSent says that the story can do without the command: a good lock may not send it.
func (f *Fault) IfSent() *Fault { f.ifSent = true; return f }

// Freeze stops the whole process at that moment, until Thaw.
func (f *Fault) Freeze() {
	f.add("stand still", func(w *World, r *request) { w.freeze(r.wire.process, f.at(r)) })
}

// Crash kills the process at that moment: nothing of it runs again.
func (f *Fault) Crash() {
	f.add("die", func(w *World, r *request) { w.crash(r.wire.process, f.at(r)) })
}

// Fail answers the command with an error instead of executing it, such as
// "OOM command not allowed when used memory > 'maxmemory'." After execution it answers with
// the error instead of the reply, as a proxy does that waits no longer for Redis.
func (f *Fault) Fail(text string) {
	f.add("be refused", func(w *World, r *request) { w.refuse(r, f.moment, text) })
}

// Drop loses the reply, or before execution the command, and breaks the
// connection.
func (f *Fault) Drop() {
	f.add("lose its connection", func(w *World, r *request) { w.drop(r, f.moment) })
}

// Delay holds the command, or its reply, in the network for d. The client goes
// on: its timeouts run. The command arrives also if the client stops meanwhile.
func (f *Fault) Delay(d time.Duration) {
	f.add("be late", func(w *World, r *request) { w.delay(r, f.moment, d) })
}

func (f *Fault) add(what string, act func(*World, *request)) {
	f.act = act
	if !f.ifSent {
		f.missed = f.client.Name + " sent nothing at which it was to " + what
	}
	f.client.process.faults = append(f.client.process.faults, f)
}

// missed are the faults that have not struck.
func (w *World) missed() (all []string) {
	for _, p := range w.processes {
		for _, f := range p.faults {
			if f.missed != "" {
				all = append(all, f.missed)
			}
		}
	}
	return all
}

// at is what an event says about the moment at which the fault strikes.
func (f *Fault) at(r *request) Event {
	return Event{Moment: f.moment, Command: r.wire.world.names.command(r.Args, r.lane.Name)}
}

// strike asks the process's faults about a command, and tells whether one of them took it
// over: then the command, or its reply, stays where it is.
func (w *World) strike(at Moment, r *request) bool {
	if w.closing || at == BeforeCommand && r.struck {
		return false
	}
	for _, f := range r.wire.process.faults {
		if f.moment == at && f.times != 0 && f.match(r.Command) {
			f.times--
			f.missed = ""
			f.act(w, r)
			r.struck = true
			return true
		}
	}
	return false
}

// errLost is what a client sees when the network loses its connection.
var errLost = io.EOF
