package failures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Locker is a lock of one name as one owner uses it.
type Locker = world.Locker

// Subject is a lock that the catalogue judges.
type Subject struct {
	Name string
	// New makes one owner's lock of that name. Commands that it sends are executed at once.
	New world.Constructor
	// NewOver is used instead of New for a lock of several servers.
	NewOver world.Constructor
	// Variants are the same lock set up in another way, for failures that need it.
	Variants map[Variant]world.Constructor
	// Ignore reports whether a key is not a lock, but a counter or a queue of a lock.
	Ignore func(key string) bool
	// AttributeTo and SkipFrames are for a lock that sends through its own goroutines or
	// layers; see [world.Config].
	AttributeTo world.AttributeTo
	SkipFrames  []string
	// Has lists the features of the lock beyond a Locker. A failure that needs another
	// feature does not apply.
	Has []Feature
	// Scripts are the Lua scripts that Redis knows from the beginning; see [DiscoverScripts].
	Scripts []string
}

// Variant is a way to set up a lock.
type Variant string

// The variants. A lock without the variant runs in its default form, with no limit or with a
// lease that is not renewed. The failure does not apply to a lock that has a watchdog and no
// fixed lease, or no second lock.
const (
	Default Variant = ""
	// The lease is not renewed. It may have another length than renewed leases.
	FixedLease Variant = "fixed lease"
	// The lease is twenty times as long as one that is renewed, and is not renewed.
	LongLease Variant = "long fixed lease"
	Limited   Variant = "max hold" // a hold ends after three leases, renewed or not
	// The process also holds a second lock, of another name, with a long lease that is not renewed.
	Beside Variant = "fixed lease beside it"
	// The second lock's lease is renewed. That of the lock itself is fixed.
	BesideRenewed Variant = "renewed lease beside it"
	// The process also takes some locks of other names, each with a long lease, or waits for them in
	// the background if another process has them.
	Crowded Variant = "waiters of other names beside it"
	// The client takes a lock of another name first, and releases it last. This works with any lock.
	Nested Variant = "nested in another"
	// Each client takes two locks, in the order in which its name lists them. This works with any lock.
	Both Variant = "two locks"
)

// Feature is something that a lock may have, and that a failure may need.
type Feature string

// The features.
const (
	Scripts  Feature = "scripts"  // it runs Lua scripts
	Watchdog Feature = "watchdog" // it renews its lease
	Reentry  Feature = "re-entry" // its owner may take it again; a [world.Counting] reports the count
	PubSub   Feature = "pub/sub"  // waiters are woken by messages
	Fencing  Feature = "fencing"  // it hands out fencing tokens
	Force    Feature = "force"    // it can be freed from outside: a [world.Forcing]
	Closing  Feature = "close"    // it has goroutines and has to be closed: an [io.Closer]
	Waits    Feature = "WAIT"     // it asks how many replicas have its key

	HoldContext Feature = "context"     // a hold has a context, which ends with it
	FixedValue  Feature = "fixed value" // all holds write one value
)

// With returns the lock with a feature.
func (s Subject) With(f Feature) Subject {
	if !slices.Contains(s.Has, f) {
		s.Has = append(slices.Clip(s.Has), f)
	}
	return s
}

// SendsWait reports whether a trace shows that the lock asks how many replicas have its key.
func SendsWait(tr *trace.Trace) bool {
	return tr != nil && slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind == trace.Sent && e.Command[0] == "WAIT" })
}

// Shows returns the features that a trace shows and s.Has does not list. Only scripts, pub/sub and a
// watchdog can be seen in a trace.
func (s Subject) Shows(tr *trace.Trace) (shown []Feature) {
	show := func(f Feature) {
		if !slices.Contains(shown, f) && !slices.Contains(s.Has, f) {
			shown = append(shown, f)
		}
	}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Sent && strings.HasPrefix(e.Command[0], "EVAL"):
			show(Scripts)
		case e.Kind == trace.Sent && strings.HasSuffix(e.Command[0], "SUBSCRIBE"):
			show(PubSub)
		case e.Kind == trace.Executed && e.Background && e.Effects.Include(trace.Leased):
			show(Watchdog)
		}
	}
	return shown
}

// Family groups failures that have one cause.
type Family string

// The families, in the order in which the matrix shows them.
const (
	Lease    Family = "the lease"
	Owner    Family = "the owner"
	Renewal  Family = "the watchdog"
	Waiting  Family = "waiters"
	Network  Family = "lost and late messages"
	Contexts Family = "contexts"
	Sharing  Family = "re-entry and sharing"
	Servers  Family = "the server"
	Limits   Family = "the limits of the lock"
	Fences   Family = "the same with a fenced ledger"
	Guards   Family = "guards of the resource"
	Usage    Family = "how the lock is used"
	Normal   Family = "normal use"
	RedLock  Family = "RedLock"

	Replication Family = "replication"
)

// Preventer is what can prevent a failure that no lock over one server can.
type Preventer string

// The preventers.
const (
	Resource Preventer = "the resource" // it refuses a write: by an old fencing token, or by a guard of its own
	Majority Preventer = "a majority"   // of several servers, with a vote to spare, or a store with consensus
	Caller   Preventer = "the caller"   // it uses the lock in another way
)

// Failure is one way to break a lock.
type Failure struct {
	ID     string
	Family Family
	Title  string // the failure in one line
	Story  string // the events and their reason, in a few sentences
	// Breaks names the rules that this failure is about. The lock is broken when
	// one of them reports a violation, or another one that is not Given.
	Breaks []oracle.Rule
	// Given names rules that the story itself breaks on every lock: other failures
	// judge them.
	Given []oracle.Rule
	// GivenBy is the ID of the failure that is about the Given rules; "" if there is none.
	GivenBy string
	// Variant is how the lock is set up.
	Variant Variant
	// Lease is the lease to ask for; 0: the default of the world.
	Lease time.Duration
	// Replicas is the number of replicas of the server, for a lock of one server.
	Replicas int
	// Guard is how the ledger protects itself.
	Guard world.Guard
	// PreventedBy is what can prevent the failure if no lock over one server can; "" if a lock can.
	PreventedBy Preventer
	// Cure is the command of this program that shows how it is prevented.
	Cure string
	// FirstScreen marks what the first screen shows: the failures that tell the story of the stages.
	FirstScreen bool
	// Basic failures are asked first. A lock that breaks one is not asked the rest.
	Basic  bool
	Needs  []Feature // without all of these the failure does not apply
	Unless []Feature // with any of these it does not apply
	// Loss: the holder loses the lock in this story. If it is told by the first renewal that Redis
	// answers, at the latest when the lease ends, the outcome is noticed, not safe.
	Loss bool
	// Requires lists what has to happen in a run, apart from the faults, which all have to strike.
	Requires []Precondition
	// Client has the settings of the client; without any, commands are sent once.
	Client world.Settings
	Script func(*world.World)
	// Live is the reason why it cannot run on a real Redis; "" if it can.
	Live string
	// Fixed is the fix, in a sentence.
	Fixed string
}

// OnServers reports whether the failure is about several servers: a master with replicas, or independent
// ones.
func (f Failure) OnServers() bool { return f.Family == Replication || f.Family == RedLock }

// Outcome is what a failure does to a lock.
type Outcome byte

// The outcomes.
const (
	Broken        Outcome = 'x' // the failure shows
	Safe          Outcome = 'o' // it does not
	Noticed       Outcome = 'n' // the hold is lost, and its owner is told; see [Failure.Loss]
	Limit         Outcome = 'i' // it shows, and no lock over one server can prevent it
	NotApplicable Outcome = '-' // the lock lacks what the failure is about
	Elsewhere     Outcome = 'w' // it was not run: only the controlled world can run it
	NotTested     Outcome = 'u' // no rule is broken, but a precondition of the failure was not met
	NotPlayed     Outcome = '!' // the run did not end, and no rule is broken up to there
)

// IsGood reports whether the lock survives the failure, or the failure does not apply.
func (o Outcome) IsGood() bool { return o == Safe || o == Noticed || o == NotApplicable }

var outcomeIDs = map[Outcome]string{
	Broken: "broken", Safe: "safe", Noticed: "noticed", Limit: "limit", NotApplicable: "not applicable",
	Elsewhere: "world only", NotTested: "not tested", NotPlayed: "not played",
}

// String returns the id of an outcome.
func (o Outcome) String() string { return cmp.Or(outcomeIDs[o], outcomeIDs[NotPlayed]) }

// MarshalText returns the outcome's id.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText sets the outcome with an id.
func (o *Outcome) UnmarshalText(id []byte) error {
	for outcome, its := range outcomeIDs {
		if its == string(id) {
			*o = outcome
			return nil
		}
	}
	return fmt.Errorf("failures: there is no outcome %q", id)
}

// Word returns the outcome in words for readers.
func (o Outcome) Word() i18n.Text {
	if o == Limit {
		return "not by this lock"
	}
	return i18n.Text(o.String())
}

// MarshalText returns the failure's id.
func (f Failure) MarshalText() ([]byte, error) { return []byte(f.ID), nil }

// UnmarshalText sets the failure with an id.
func (f *Failure) UnmarshalText(id []byte) error {
	found, ok := Find(string(id))
	if !ok {
		return fmt.Errorf("failures: there is no failure %q", id)
	}
	*f = found
	return nil
}

// All is the catalogue of a lock of one server, family by family.
var All = slices.Concat(
	leaseFailures, ownerFailures, renewing, renewingSeveral, releasing, waitingFailures, networkFailures, contextFailures,
	reentryFailures, serverFailures, limitFailures, twins(), tokenFailures, guardFailures, usageFailures, normalFailures,
)

// OfLocks returns the failures of the lock itself, without those of its users and of the resource.
// Other people's locks are checked for these only.
func OfLocks() []Failure {
	return slices.DeleteFunc(slices.Clone(All), func(f Failure) bool { return f.Family == Guards || f.Family == Usage })
}

// BasicFirst returns failures with the basic ones first.
func BasicFirst(all []Failure) (sorted []Failure) {
	for _, isBasic := range []bool{true, false} {
		for _, f := range all {
			if f.Basic == isBasic {
				sorted = append(sorted, f)
			}
		}
	}
	return sorted
}

// OfServers are the failures of locks on several servers: a master with replicas, or independent ones.
var OfServers = slices.Concat(OfReplicas, OfRedLock)

// Catalogue is every failure: All, and those of locks on several servers.
var Catalogue = slices.Concat(All, OfServers)

// Find returns the failure of that id.
func Find(id string) (Failure, bool) {
	for _, f := range Catalogue {
		if f.ID == id {
			return f, true
		}
	}
	return Failure{}, false
}
