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

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Monitor is one rule that a lock must keep, by the name it has in verdicts.
type Monitor string

// The monitors. [Monitor.Rule] describes each.
const (
	Exclusion    Monitor = "exclusion"
	Damage       Monitor = "damage"
	WrongDelete  Monitor = "wrong delete"
	WrongExtend  Monitor = "wrong extend"
	Watchdog     Monitor = "watchdog"
	RenewalCount Monitor = "renewal count"
	EndlessHold  Monitor = "endless hold"
	Leak         Monitor = "leak"
	Deadlock     Monitor = "deadlock"
	Truth        Monitor = "truth"
	LossHidden   Monitor = "loss hidden"
	LostWakeUp   Monitor = "lost wake-up"
	BoundedWait  Monitor = "bounded wait"
	HoldCount    Monitor = "hold count"
	CommandCount Monitor = "command count"
	Polling      Monitor = "polling"
	Lease        Monitor = "lease"
	Waiting      Monitor = "waiting"
	Context      Monitor = "context"
	EarlyLoss    Monitor = "early loss"
)

// rule is a monitor: its name, its sentence for readers, and how it follows a trace.
// The function that follow returns is called with each scene in turn.
type rule struct {
	name     Monitor
	sentence i18n.Text
	follow   func(*file) func(*trace.Scene)
}

// rules are all monitors. Findings on the same step are reported in this order.
var rules = []rule{
	{Damage, "the ledger never accepts two orders with the same name, and never refuses the token of the newest holder.", damage},
	{WrongDelete, "no client removes or overwrites another client's key, and no call removes or overwrites a key that a later call created.", wrongDelete},
	{WrongExtend, "no process renews another process's key.", wrongExtend},
	{Exclusion, "no two live clients believe at the same time that they hold the lock. A client whose key is deleted learns of it within a third of a lease, or from its next renewal.", exclusion},
	{Truth, "what a call returns agrees with what it did in Redis.", truth},
	{LossHidden, "a client that has lost its lock learns of it, at the latest from Unlock.", lossReported},
	{Watchdog, "a watchdog does not let the key of a live holder expire, and does not renew a hold that has ended.", watchdog},
	{RenewalCount, "re-entry does not make a process renew more often.", renewalCount},
	{Leak, "every key has a lease. It is gone soon after its hold has failed or ended, and at most a lease after its owner has died.", leak},
	{Deadlock, "no client waits until it gives up for a lock that no live client holds, or that only the waiter itself holds.", deadlock},
	{EndlessHold, "no hold blocks other clients for more than six leases.", endlessHold},
	{LostWakeUp, "no client keeps waiting while the lock is free.", lostWakeUp},
	{BoundedWait, "the waiters of one process get the lock in the order in which they asked.", boundedWait},
	{HoldCount, "a client's count in Redis is the number of its Locks that it has not unlocked yet.", holdCount},
	{CommandCount, "a waiter that has subscribed sends only a few commands: at the start, when the lock becomes free, and in each lease.", countCommands},
	{Polling, "while nothing happens, waiters send only a few commands in each lease.", countCommands},
	{Lease, "a key gets the lease that was asked for: no more than twice as long, and no more than a third shorter.", leaseAsked},
	{Waiting, "while another process holds the lock, Lock waits, and TryLock returns false at once.", lockWaits},
	{Context, "Lock and TryLock return soon after their context has ended. When the process closes the lock, a waiting Lock returns without it.", heedsContext},
	{EarlyLoss, "a client that can reach Redis is not told that its lock is lost while its key is there and much of its lease is left.", lossIsTrue},
}

// Rules returns all monitors.
func Rules() (all []Monitor) {
	for _, r := range rules {
		all = append(all, r.name)
	}
	return all
}

// Rule returns what the monitor checks, in one sentence for readers.
func (m Monitor) Rule() i18n.Text {
	for _, r := range rules {
		if r.name == m {
			return r.sentence
		}
	}
	return ""
}

func init() {
	for _, r := range rules {
		i18n.Register(i18n.Text(r.name), r.sentence)
	}
}

// Grace returns how long a key may stay after its hold has failed or ended: time for
// a lock to clean up after a command of unknown outcome. It is a second for a lease
// of 30 s, and more on the wall clock.
func Grace(tr *trace.Trace) time.Duration { return tr.Lease/30 + tr.Slack }

// Finding is a rule broken at one step of a trace.
type Finding struct {
	Monitor Monitor       `json:"monitor"`
	Step    int           `json:"step"` // of the event that broke it
	At      time.Duration `json:"at_ns"`
	Client  string        `json:"client"`
	Text    string        `json:"text"`             // in English
	Panics  bool          `json:"panics,omitempty"` // the finding is that a call has panicked
	said    i18n.Message
}

// Localize returns the text in a language.
func (f Finding) Localize(l i18n.Language) string {
	if f.said.Text == "" {
		return f.Text
	}
	return f.said.Localize(l)
}

var sentence = i18n.New("✗ {rule}: {text}")

// Sentence returns the finding as pictures show it: the rule and the text.
func (f Finding) Sentence(l i18n.Language) string {
	return sentence.Localize(l, "rule", i18n.Text(f.Monitor), "text", f.Localize(l))
}

// file collects the findings of one monitor in a trace.
type file struct {
	*trace.Trace
	monitor Monitor
	calls   byCall
	follow  func(*trace.Scene)
	found   []Finding
}

// report adds a finding: the event's client has broken the rule.
func (f *file) report(e *trace.Event, text i18n.Text, pairs ...any) {
	f.reportOf(e.Client, e, text, pairs...)
}

// reportOf adds a finding: by the time of an event, a client has broken the rule.
func (f *file) reportOf(client string, e *trace.Event, text i18n.Text, pairs ...any) {
	said := text.Args(append(pairs, "client", client)...)
	found := Finding{f.monitor, e.Step, e.At, client, said.Localize(i18n.English), text == panics, said}
	if n := len(f.found); n == 0 || f.found[n-1].Step != found.Step || f.found[n-1].Text != found.Text { // once for several servers
		f.found = append(f.found, found)
	}
}

// costs are the monitors of commands that are wasted and break nothing.
var costs = []Monitor{Polling, CommandCount, RenewalCount}

// Judge returns the findings of all monitors, in the order of steps. The monitors of [costs] run only
// if the story is about them: elsewhere they would hide the result that matters.
func Judge(tr *trace.Trace, about ...Monitor) []Finding {
	beside := func(m Monitor) bool { return slices.Contains(costs, m) && !slices.Contains(about, m) }
	return Ask(tr, slices.DeleteFunc(Rules(), beside)...)
}

// Ask returns the findings of some monitors only. They follow the trace together.
func Ask(tr *trace.Trace, monitors ...Monitor) []Finding {
	calls := byCall{}
	var files []*file
	for _, r := range rules {
		if slices.Contains(monitors, r.name) {
			f := &file{Trace: tr, monitor: r.name, calls: calls}
			f.follow = r.follow(f)
			files = append(files, f)
		}
	}
	for _, s := range tr.Scenes() {
		calls.follow(s.Event)
		for _, f := range files {
			f.follow(s)
		}
	}
	var found []Finding
	for _, f := range files {
		found = append(found, f.found...)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Step, b.Step) })
	return found
}

// Violates reports whether any of the findings is by one of the monitors.
func Violates(found []Finding, by ...Monitor) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(by, f.Monitor) })
}
