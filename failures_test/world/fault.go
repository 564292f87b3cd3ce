package world

import (
	"fmt"
	"strconv"
	"time"

	"lockkata/failures_test/trace"
)

// Before returns a fault that strikes before a matching command is executed.
func (c *Client) Before(m Match) *Fault {
	return &Fault{world: c.world, client: c, moment: trace.BeforeCommand, match: m, times: 1}
}

// After returns a fault that strikes when a matching command has been executed and its reply has
// not yet reached the client.
func (c *Client) After(m Match) *Fault {
	return &Fault{world: c.world, client: c, moment: trace.AfterCommand, match: m, times: 1}
}

// Before is [Client.Before] for the commands that any client sends to this server.
func (n *Node) Before(m Match) *Fault {
	return &Fault{world: n.world, moment: trace.BeforeCommand, match: On(m, n), times: 1}
}

// Always makes the fault strike at each match, instead of once.
func (f *Fault) Always() *Fault { f.times = -1; return f }

// End ends the fault: it strikes no longer.
func (f *Fault) End() { f.times, f.missed = 0, "" }

// IfSent makes the command optional: if it is never sent, the fault does not count as missed.
func (f *Fault) IfSent() *Fault { f.ifSent = true; return f }

// Freeze pauses the whole process at that moment, until Thaw.
func (f *Fault) Freeze() {
	f.add("freeze at", func(r *request) { r.wire.process.freeze(f.at(r)) })
}

// Crash kills the process at that moment.
func (f *Fault) Crash() {
	f.add("crash at", func(r *request) { r.wire.process.crash(f.at(r)) })
}

// Fail answers the command with an error instead of executing it, such as "OOM command not allowed
// when used memory > 'maxmemory'." A fault made by After replaces the reply by the error, as a
// proxy does that no longer waits for Redis.
func (f *Fault) Fail(text string) {
	f.add("refuse", func(r *request) { r.refuse(f.moment, text) })
}

// Answer answers the command with these bytes instead of executing it. They need not be a reply.
func (f *Fault) Answer(raw string) {
	f.add("answer", func(r *request) { r.replace(f.moment, raw, strconv.Quote(raw)) })
}

// Route executes the command as a proxy does that sends it to the server of its first key. That server
// does not have the keys of other slots.
func (f *Fault) Route() {
	f.add("route", func(r *request) { r.routed = true })
}

// Drop loses the command (Before) or its reply (After), and breaks the connection.
func (f *Fault) Drop() {
	f.add("drop", func(r *request) { r.drop(f.moment) })
}

// Delay delays the command (Before) or its reply (After) by d. The client's timeouts run during
// that time. A delayed command arrives even if the client stops. Another fault can strike it then.
func (f *Fault) Delay(d time.Duration) {
	f.add("delay", func(r *request) { r.delay(f.moment, d.Truncate(time.Microsecond)) }) // as precise as the world's clock
}

func (f *Fault) add(what string, act func(*request)) {
	f.act = act
	switch {
	case f.ifSent:
	case f.client == nil:
		f.missed = "no client sent the command to " + what
	default:
		f.missed = f.client.Name + " never sent the command to " + what
	}
	f.world.faults = append(f.world.faults, f)
}

// missed returns a report for each fault that has not struck.
func (w *World) missed() (all []string) {
	for _, f := range w.faults {
		if f.missed != "" {
			all = append(all, f.missed)
		}
	}
	return all
}

// at returns an event with the moment and the command at which the fault strikes.
func (f *Fault) at(r *request) trace.Event {
	return trace.Event{Moment: f.moment, Command: r.words()}
}

// scenarioError is the panic value that ends a scenario with an error.
type scenarioError struct{ error }

// MissingError is the error of a scenario that calls a method which the lock does not have.
type MissingError struct{ Client, Method string }

func (e MissingError) Error() string {
	return fmt.Sprintf("world: the lock of %s has no method %s", e.Client, e.Method)
}

// takenOver is the panic value that unwinds a scenario when the caller takes control.
type takenOver struct{}

// fail ends the scenario with an error.
func fail(format string, args ...any) {
	panic(scenarioError{fmt.Errorf("world: "+format, args...)})
}

// mostInASecond limits the commands of a client in a second of fake time. A lock that polls every
// millisecond stays below it. A lock that never waits would loop forever.
const mostInASecond = 2_000

// FloodError is the error of a scenario whose lock sends commands without a pause.
type FloodError struct{ Client, Function, Line string }

// Flood returns the error with which the scenario has ended if the lock sends commands without a pause; else nil.
func (w *World) Flood() error { return w.flood }

func (e FloodError) Error() string {
	return fmt.Sprintf("%s floods Redis at %s: more than %d commands in a second", e.Client, e.Line, mostInASecond)
}
