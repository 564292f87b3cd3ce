// Package oracle judges a trace. Its rules see commands, keys and what the
// clients did; they never ask the lock, and they know no lock's code.
//
// Belief and damage are judged apart: that two clients think they hold the lock
// is one thing, that the resource took two conflicting writes is another.
//
//	for _, f := range oracle.Judge(trace) {
//		fmt.Println(f.Rule, f.Step, f.Text)
//	}
package oracle

import (
	"cmp"
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Rule is one rule that a lock must keep, by the name it has in verdicts.
type Rule string

// The rules. [Rule.Sentence] describes each.
const (
	Exclusion    Rule = "broken exclusion"
	Damage       Rule = "damage"
	WrongDelete  Rule = "wrong delete"
	WrongExtend  Rule = "wrong extend"
	Watchdog     Rule = "watchdog failure"
	RenewalCount Rule = "extra renewals"
	EndlessHold  Rule = "endless hold"
	Leak         Rule = "leak"
	Deadlock     Rule = "deadlock"
	Truth        Rule = "false answer"
	LossHidden   Rule = "loss hidden"
	LostWakeUp   Rule = "lost wake-up"
	BoundedWait  Rule = "overtaken waiter"
	HoldCount    Rule = "wrong hold count"
	CommandCount Rule = "too many commands"
	Polling      Rule = "polling"
	Lease        Rule = "wrong lease"
	Waiting      Rule = "wrong waiting"
	Context      Rule = "ignored context"
	EarlyLoss    Rule = "early loss"

	NeedlessError    Rule = "needless error"
	RepeatedValue    Rule = "repeated value"
	EarlyUnlock      Rule = "early unlock"
	KeptSubscription Rule = "kept subscription"
)

// definition is a rule: its name, its sentence for readers, and how it follows a trace.
// The function that follow returns is called with each scene in turn.
type definition struct {
	name     Rule
	sentence i18n.Text
	follow   func(*file) func(*trace.Scene)
}

// definitions are all rules. Findings on the same step are reported in this order.
var definitions = []definition{
	{Damage, "the ledger never accepts two orders with the same name, and never refuses the token of the newest holder.", damage},
	{WrongDelete, "no client removes or overwrites another client's key, and no call removes or overwrites a key that a later call created.", wrongDelete},
	{WrongExtend, "no process renews another process's key.", wrongExtend},
	{Exclusion, "no two live clients believe at the same time that they hold the lock. A client whose key is deleted learns of it within a third of a lease, or from its next renewal.", exclusion},
	{NeedlessError, "a call fails only if its context has ended, Redis cannot be reached or refuses a command, or another client holds the lock. A command that Redis cannot run is a mistake in the lock.", needlessError},
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
	{Context, "Lock and TryLock return soon after their context has ended. When the process closes the lock, a waiting Lock returns without it.", ignoredContext},
	{EarlyLoss, "a client that can reach Redis is not told that its lock is lost while its key is there and much of its lease is left.", earlyLoss},
	{RepeatedValue, "each hold writes a new value, and a random one, so that no other hold has the same.", repeatedValue},
	{EarlyUnlock, "A renewal that arrives after its Unlock changes nothing.", earlyUnlock},
	{KeptSubscription, "a waiter that gives up ends its subscription.", keptSubscription},
}

// Rules returns all rules.
func Rules() (all []Rule) {
	for _, d := range definitions {
		all = append(all, d.name)
	}
	return all
}

// Sentence returns what the rule demands, in one sentence for readers.
func (r Rule) Sentence() i18n.Text {
	for _, d := range definitions {
		if d.name == r {
			return d.sentence
		}
	}
	return ""
}

func init() {
	for _, d := range definitions {
		i18n.Register(i18n.Text(d.name), d.sentence)
	}
}

// Grace returns how long a key may stay after its hold has failed or ended: time for
// a lock to clean up after a command of unknown outcome. It is a second for a lease
// of 30 s, and more on the wall clock.
func Grace(tr *trace.Trace) time.Duration { return tr.Lease/30 + tr.Slack }

// Finding is a rule broken at one step of a trace.
type Finding struct {
	Rule   Rule          `json:"rule"`
	Step   int           `json:"step"`            // of the event that broke it
	Until  int           `json:"until,omitempty"` // the step at which that is certain, if it is a later one
	At     time.Duration `json:"at_ns"`
	Client string        `json:"client"`
	// Command is the step of the command that the finding is about; 0 if none is known.
	Command int    `json:"command,omitempty"`
	Text    string `json:"text"`             // in English
	Panics  bool   `json:"panics,omitempty"` // the finding is that a call has panicked
	Given   bool   `json:"given,omitempty"`  // the story itself breaks the rule, and the failure is about another one
	said    i18n.Message
}

// Localize returns the text in a language.
func (f Finding) Localize(l i18n.Language) string {
	if f.said.Text == "" {
		return f.Text
	}
	return f.said.Localize(l)
}

// In returns findings with their texts in a language, as another process needs them.
func In(l i18n.Language, all []Finding) []Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = all[i].Localize(l)
	}
	return all
}

var (
	sentence = i18n.New("✗ {rule}: {text}")
	given    = i18n.New("(given) {rule}: {text}")
	repeated = i18n.New("{what}, {n} times in {time}")
)

// Fold returns findings with those that repeat each other as one.
func Fold(all []Finding) (folded []Finding) {
	for i, f := range all {
		same := func(x Finding) bool { return x.Rule == f.Rule && x.Text == f.Text && x.Given == f.Given }
		if slices.ContainsFunc(all[:i], same) {
			continue
		}
		n, last := 0, f
		for _, x := range all[i:] {
			if same(x) {
				n, last = n+1, x
			}
		}
		if n > 1 {
			f.said = repeated.Args("what", f, "n", n, "time", (last.At - f.At).Truncate(time.Millisecond))
		}
		folded = append(folded, f)
	}
	return folded
}

// Shown returns the step at which pictures show the finding.
func (f Finding) Shown() int { return max(f.Step, f.Until) }

// Sentence returns the finding as pictures show it: the rule and the text.
func (f Finding) Sentence(l i18n.Language) string {
	say := sentence
	if f.Given {
		say = given
	}
	return say.Localize(l, "rule", i18n.Text(f.Rule), "text", f.Localize(l))
}

// file collects the findings of one rule in a trace.
type file struct {
	*trace.Trace
	rule   Rule
	about  bool // the story is about the rule
	calls  byCall
	follow func(*trace.Scene)
	found  []Finding
}

// report adds a finding: the event's client has broken the rule.
func (f *file) report(e *trace.Event, text i18n.Text, pairs ...any) {
	f.reportOf(e.Client, e, text, pairs...)
	f.note(f.commandOf(e))
}

// reportOf adds a finding: by the time of an event, a client has broken the rule.
func (f *file) reportOf(client string, e *trace.Event, text i18n.Text, pairs ...any) {
	said := text.Args(append(pairs, "client", client)...)
	found := Finding{Rule: f.rule, Step: e.Step, At: e.At, Client: client, Text: said.Localize(i18n.English), Panics: text == panicText, said: said}
	if n := len(f.found); n == 0 || f.found[n-1].At != found.At || f.found[n-1].Text != found.Text { // once for several servers
		f.found = append(f.found, found)
	}
}

// reportUntil adds a finding about an event that is certain only at a later one.
func (f *file) reportUntil(later, e *trace.Event, text i18n.Text, pairs ...any) {
	f.report(e, text, pairs...)
	f.found[len(f.found)-1].Until = later.Step
}

// aside are rules about what does no harm by itself, such as a wasted command.
var aside = []Rule{Polling, CommandCount, RenewalCount, NeedlessError, RepeatedValue, EarlyUnlock, KeptSubscription}

// Judge returns the findings of all rules, in the order of steps. Those of [aside] are asked only
// if the story is about them: elsewhere they would hide the result that matters. In a story about the
// watchdog, a hold has to be renewed.
func Judge(tr *trace.Trace, about ...Rule) []Finding {
	isAside := func(m Rule) bool { return slices.Contains(aside, m) && !slices.Contains(about, m) }
	return ask(tr, slices.DeleteFunc(Rules(), isAside), about)
}

// Ask returns the findings of some rules only.
func Ask(tr *trace.Trace, rules ...Rule) []Finding { return ask(tr, rules, nil) }

// ask has the rules follow the trace together.
func ask(tr *trace.Trace, rules, about []Rule) []Finding {
	calls := byCall{}
	var files []*file
	for _, d := range definitions {
		if slices.Contains(rules, d.name) {
			f := &file{Trace: tr, rule: d.name, about: slices.Contains(about, d.name), calls: calls}
			f.follow = d.follow(f)
			files = append(files, f)
		}
	}
	for _, s := range tr.Scenes() {
		calls.follow(tr, s.Event)
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

// Violates reports whether any of the findings is by one of the rules.
func Violates(found []Finding, by ...Rule) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(by, f.Rule) })
}
