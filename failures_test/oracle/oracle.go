// Package oracle judges a trace. Its monitors see commands, keys and what the
// clients did; they never ask the lock, and they know no lock's code.
//
// Belief and damage are judged apart: that two clients think they hold the lock
// is one thing, that the resource took two conflicting writes is another.
//
//	for _, f := range oracle.Judge(trace) {
//		fmt.Println(f.Monitor, f.Step, f.Text)
//	}
package oracle

import (
	"cmp"
	"slices"
	"time"

	"lockkata/failures_test/world"
)

// Monitor is one rule that a lock must keep, by the name it has in verdicts.
type Monitor string

// The monitors.
const (
	// Exclusion: no two live clients believe at once that they hold the lock.
	// Belief begins when Lock or TryLock returns the lock, and ends when the
	// client calls Unlock, is told that its hold is lost, or dies. One whose key
	// somebody else took away has a third of a lease, and [Grace], to be told.
	Exclusion Monitor = "exclusion"
	// Damage: the ledger never takes two orders of one name.
	Damage Monitor = "damage"
	// WrongDelete: no client removes or overwrites what another one installed,
	// nor an earlier call what a later call installed.
	WrongDelete Monitor = "wrong delete"
	// WrongExtend: no process gives a new lease to what another one installed.
	WrongExtend Monitor = "wrong extend"
	// Watchdog: where a watchdog renews, the key of a holder that is alive does not
	// expire, and nothing renews a hold that is over.
	Watchdog Monitor = "watchdog"
	// RenewalCount: a process renews its lock at most four times in a lease, however
	// often its owner has taken it.
	RenewalCount Monitor = "renewal count"
	// EndlessHold: no hold keeps somebody waiting that has lasted for more than
	// [LongestHold] leases.
	EndlessHold Monitor = "endless hold"
	// Leak: no key stays without a lease, none outlives a failed or finished hold
	// by more than [Grace], and none its dead owner by more than a lease.
	Leak Monitor = "leak"
	// Deadlock: nobody waits to the end of his patience for a lock that nobody
	// alive holds, or that only he himself holds.
	Deadlock Monitor = "deadlock"
	// Truth: what a call answers agrees with what it did in Redis.
	Truth Monitor = "truth"
	// LossNoticed: a client that lost its lock learns it, at the latest when it
	// unlocks.
	LossNoticed Monitor = "loss noticed"
	// LostWakeUp: nobody waits in Lock for more than [Grace] while the lock is free
	// because somebody freed it or its lease ended. Polling is waiting too.
	LostWakeUp Monitor = "lost wake-up"
	// BoundedWait: no waiter is overtaken by a later one of its own process.
	BoundedWait Monitor = "bounded wait"
	// HoldCount: a client's count in Redis, and what HoldCount answers, is how often
	// it has taken the lock and not given it back.
	HoldCount Monitor = "hold count"
	// CommandCount: those that wait for a message send a few commands to begin with,
	// a few when the lock comes free, a few each lease, and nothing else.
	CommandCount Monitor = "command count"
)

// Grace is how long a key may stay after its hold has failed or ended: time for
// a lock to clean up behind a command whose outcome it did not learn. It is a
// second for a lease of 30 s, and more on the wall clock.
func Grace(trace *world.Trace) time.Duration { return trace.Lease/30 + trace.Slack }

// Finding is a rule broken at one step of a trace.
type Finding struct {
	Monitor Monitor       `json:"monitor"`
	Step    int           `json:"step"` // of the event that broke it
	At      time.Duration `json:"at_ns"`
	Client  string        `json:"client"`
	Text    string        `json:"text"` // one sentence
}

// rules are all monitors, in the order in which their findings are told when
// they fall on the same step.
var rules = []struct {
	name  Monitor
	judge func(*world.Trace) []Finding
}{
	{Damage, damage},
	{WrongDelete, wrongDelete},
	{WrongExtend, wrongExtend},
	{Exclusion, exclusion},
	{Truth, truth},
	{LossNoticed, lossNoticed},
	{Watchdog, watchdog},
	{RenewalCount, renewalCount},
	{Leak, leak},
	{Deadlock, deadlock},
	{EndlessHold, endlessHold},
	{LostWakeUp, lostWakeUp},
	{BoundedWait, boundedWait},
	{HoldCount, holdCount},
	{CommandCount, commandCount},
}

// Monitors lists every monitor.
func Monitors() []Monitor {
	names := make([]Monitor, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

// Judge asks every monitor and returns what they found, in the order of steps.
func Judge(trace *world.Trace) []Finding { return Ask(trace, Monitors()...) }

// Ask asks some monitors only.
func Ask(trace *world.Trace, monitors ...Monitor) []Finding {
	var found []Finding
	for _, r := range rules {
		if !slices.Contains(monitors, r.name) {
			continue
		}
		for _, f := range r.judge(trace) {
			f.Monitor = r.name
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Step, b.Step) })
	return found
}

// Convicts tells whether any of the findings is by one of the monitors.
func Convicts(found []Finding, by ...Monitor) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(by, f.Monitor) })
}

func findingAt(e world.Event, text string) Finding {
	return Finding{Step: e.Step, At: e.At, Client: e.Client, Text: text}
}

// isAcquire tells whether an operation asks for the lock.
func isAcquire(op string) bool { return op == world.OpLock || op == world.OpTryLock }
