package world

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// Command is a command on the wire, as a [Match] sees it.
type Command struct {
	Args       []string
	Name       string // in capitals
	Op         string // the call that sent it: Lock, TryLock, Unlock, Insert …; "" = a goroutine started by the lock
	Write      bool   // not read-only; scripts count as writes
	Background bool
	Effects    trace.Effects // empty until it is executed
	Lane       string
	Server     string // see [Node.Name]
}

// Match chooses commands.
type Match func(Command) bool

// Any matches every command to Redis.
func Any(c Command) bool { return !trace.IsStore(c.Name) }

// Write matches a command to Redis that is not read-only.
func Write(c Command) bool { return Any(c) && c.Write }

// Background matches what a goroutine started by the lock sends, such as its watchdog.
func Background(c Command) bool { return c.Background }

// Installs matches a command that has created a key in Redis.
func Installs(c Command) bool { return c.Effects.Include(trace.Installed) }

// Extends matches a renewal that has extended a lease.
func Extends(c Command) bool { return c.Background && c.Effects.Include(trace.Leased) }

// Insert matches the write to the ledger.
func Insert(c Command) bool { return c.Name == trace.OpInsert }

// Named matches a command by its name.
func Named(name string) Match {
	return func(c Command) bool { return Any(c) && c.Name == strings.ToUpper(name) }
}

// Of restricts a match to the commands of one operation, such as OpUnlock.
func Of(op string, m Match) Match {
	return func(c Command) bool { return c.Op == op && m(c) }
}

// On restricts a match to the commands for those servers.
func On(m Match, nodes ...*Node) Match {
	return func(c Command) bool {
		return m(c) && slices.ContainsFunc(nodes, func(n *Node) bool { return n.Name == c.Server })
	}
}

// CrossesSlots matches a command with keys in different slots, which a Redis Cluster refuses. The
// slot depends on the hash tag of the key, its first part in braces, or on the whole key.
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

// Nth matches the nth command that m matches, counted from 1. The match counts its calls: use it in
// one fault only.
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

// Grants matches the command that completes an acquire: afterwards the key exists and has a lease.
// In stage 1 that is PEXPIRE, not SETNX.
func (w *World) Grants(c Command) bool {
	isAny := func(string, KeyState) bool { return true }
	return c.Effects.Include(trace.Installed, trace.Leased) && c.Op != trace.OpUnlock && w.of(c).keys.haveLease(isAny)
}

// Has matches a command that is sent while the client has a key with a lease in Redis.
func (c *Client) Has(sent Command) bool {
	keys := c.world.of(sent).keys
	return keys.haveLease(func(name string, k KeyState) bool { return keys.ownerOf(name, k).Client == c.Name })
}

// Renews matches a renewal that is due: a background write while a lease has run for a fifteenth of
// its length or more. A lock may also renew immediately after the acquire, which does not match.
func (w *World) Renews(c Command) bool {
	on := w.of(c)
	old := on.server.Now().Add(w.Lease - w.Lease/15)
	return c.Background && Write(c) && on.keys.haveLease(func(_ string, k KeyState) bool { return k.Expires.Before(old) })
}

// Fault is a fault that strikes at a command of a client.
type Fault struct {
	client *Client
	moment trace.Moment
	match  Match
	times  int // how often it can still strike; < 0: no limit
	ifSent bool
	act    func(*World, *request)
	missed string // the report if it never strikes; "": none
}

// Before returns a fault that strikes before a matching command is executed.
func (c *Client) Before(m Match) *Fault {
	return &Fault{client: c, moment: trace.BeforeCommand, match: m, times: 1}
}

// After returns a fault that strikes when a matching command has been executed and its reply has
// not yet reached the client.
func (c *Client) After(m Match) *Fault {
	return &Fault{client: c, moment: trace.AfterCommand, match: m, times: 1}
}

// Always makes the fault strike at each match, instead of once.
func (f *Fault) Always() *Fault { f.times = -1; return f }

// IfSent makes the command optional: if it is never sent, the fault does not count as missed.
func (f *Fault) IfSent() *Fault { f.ifSent = true; return f }

// Freeze pauses the whole process at that moment, until Thaw.
func (f *Fault) Freeze() {
	f.add("freeze at", func(w *World, r *request) { w.freeze(r.wire.process, f.at(r)) })
}

// Crash kills the process at that moment.
func (f *Fault) Crash() {
	f.add("crash at", func(w *World, r *request) { w.crash(r.wire.process, f.at(r)) })
}

// Fail answers the command with an error instead of executing it, such as "OOM command not allowed
// when used memory > 'maxmemory'." A fault made by After replaces the reply by the error, as a
// proxy does that no longer waits for Redis.
func (f *Fault) Fail(text string) {
	f.add("refuse", func(w *World, r *request) { w.refuse(r, f.moment, text) })
}

// Drop loses the command (Before) or its reply (After), and breaks the connection.
func (f *Fault) Drop() {
	f.add("drop", func(w *World, r *request) { w.drop(r, f.moment) })
}

// Delay delays the command (Before) or its reply (After) by d. The client's timeouts run during
// that time. A delayed command arrives even if the client stops.
func (f *Fault) Delay(d time.Duration) {
	f.add("delay", func(w *World, r *request) { w.delay(r, f.moment, d) })
}

func (f *Fault) add(what string, act func(*World, *request)) {
	f.act = act
	if !f.ifSent {
		f.missed = f.client.Name + " never sent the command to " + what
	}
	f.client.process.faults = append(f.client.process.faults, f)
}

// missed returns a report for each fault that has not struck.
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

// at returns an event with the moment and the command at which the fault strikes.
func (f *Fault) at(r *request) trace.Event {
	return trace.Event{Moment: f.moment, Command: r.wire.world.names.command(r.Args, r.lane.Name)}
}

// strike applies the first matching fault of the process. It returns true if there is one: then the
// fault has handled the command or its reply.
func (w *World) strike(at trace.Moment, r *request) bool {
	if w.closing || at == trace.BeforeCommand && r.struck {
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

// errLost is the error of a read or write on a broken connection.
var errLost = io.EOF
