package failures

import (
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Locker is a lock of one name as one owner uses it.
type Locker = world.Locker

// Subject is a lock that the catalogue judges.
type Subject struct {
	Name string
	// New makes one owner's lock of that name. What it sends, arrives at once.
	New func(rdb redis.UniversalClient, name string, lease time.Duration) (Locker, error)
	// NewOver makes one of a lock of several servers, which has no New.
	NewOver world.ConstructorOver
	// Variants are the same lock set up in another way, for failures that need it.
	Variants map[Variant]world.Constructor
	// Ignore reports whether a key is a counter or a queue of a lock, and no lock.
	Ignore func(key string) bool
	// AttributeTo and SkipFrames fit the world to a lock that sends through goroutines or
	// layers of its own; see [world.Config].
	AttributeTo world.AttributeTo
	SkipFrames  []string
	// Has lists what the lock has beyond a Locker; a failure that needs something
	// else does not apply.
	Has []Feature
	// Scripts are the Lua scripts that Redis knows from the beginning; see [DiscoverScripts].
	Scripts []string
}

// Variant is a way to set up a lock.
type Variant string

// The variants. A lock that lacks one is run as it is: without a limit, or with a lease
// that nothing renews in any case. One with a watchdog and no fixed lease has nothing to
// run, nor has one that makes no second lock.
const (
	Default Variant = ""
	// The lease is not renewed. A lock that has a lease of its own for what is renewed has
	// another one there.
	FixedLease Variant = "fixed lease"
	Limited    Variant = "max hold" // a hold ends after three leases, renewed or not
	// What makes the lock has another one too, of another name, whose lease is long and not
	// renewed.
	Beside Variant = "fixed lease beside it"
	// The same with a lease that is renewed. That of the lock itself is fixed.
	BesideRenewed Variant = "renewed lease beside it"
	// The process takes some locks of other names too, each with a long lease, or waits for them in
	// the background if another process has them.
	Crowded Variant = "waiters of other names beside it"
	// The client takes a lock of another name first, and releases it last. Any lock can be set up so.
	Nested Variant = "nested in another"
	// Each client takes two locks, in the order in which it names them. Any lock can be set up so.
	Both Variant = "two locks"
)

// Feature is something that a lock may have, and that a failure may need.
type Feature string

// The features.
const (
	Scripts  Feature = "scripts"  // it runs Lua scripts
	Watchdog Feature = "watchdog" // it renews its lease
	Reentry  Feature = "re-entry" // its owner may take it again; a [world.Counting] is asked how often it has
	PubSub   Feature = "pub/sub"  // waiters are woken by messages
	Fencing  Feature = "fencing"  // it hands out fencing tokens
	Force    Feature = "force"    // it can be freed from outside: a [world.Forcing]
	Closing  Feature = "close"    // it has to be closed, with goroutines of its own: an [io.Closer]
)

// Shows is which features a trace shows that the lock is not said to have. Of the others a trace
// shows nothing.
func (s Subject) Shows(trace *world.Trace) (shown []Feature) {
	show := func(f Feature) {
		if !slices.Contains(shown, f) && !slices.Contains(s.Has, f) {
			shown = append(shown, f)
		}
	}
	for _, e := range trace.Events {
		switch {
		case e.Kind == world.Sent && strings.HasPrefix(e.Command[0], "EVAL"):
			show(Scripts)
		case e.Kind == world.Sent && strings.HasSuffix(e.Command[0], "SUBSCRIBE"):
			show(PubSub)
		case e.Kind == world.Executed && e.Background && slices.ContainsFunc(e.Effects, func(x world.Effect) bool { return x.Kind == world.Leased }):
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
	Limits   Family = "what no lease can prevent"
	Fences   Family = "the same with a fenced ledger"
	Guards   Family = "guards of the resource"
	Usage    Family = "how the lock is used"
	RedLock  Family = "RedLock"
)

// Failure is one way to break a lock.
type Failure struct {
	ID     string
	Family Family
	Title  string // the failure in one line
	Story  string // what happens and why, in two or three sentences
	// Breaks names the rules that this failure is about. The lock is broken when
	// one of their monitors reports a violation, or another one that is not Given.
	Breaks []oracle.Monitor
	// Given names rules that the story itself breaks, whatever the lock does: they
	// are judged by another failure.
	Given []oracle.Monitor
	// Variant is how the lock is set up.
	Variant Variant
	// Lease is the one that is asked for; 0: whatever the world has.
	Lease time.Duration
	// Guard is how the ledger protects itself.
	Guard world.Guard
	// Inherent says that no lock with a lease can prevent it.
	Inherent bool
	// Lesson marks what the first screen shows: the failures that tell the story of the stages.
	Lesson bool
	Needs  []Feature // without all of these the failure does not apply
	Unless []Feature // with any of these it does not apply
	// Loss says that the story takes the hold away: a lock that tells its holder in
	// time is then noticed, not safe.
	Loss bool
	// Requires lists what has to happen in a run, apart from the faults, which all have to strike.
	Requires []Precondition
	// Client changes the go-redis options; without it, commands are sent once.
	Client func(*redis.Options)
	Script func(*world.World)
	// Live says why it cannot run on a real Redis; "" if it can.
	Live string
	// Fixed says, for the story, what fixes it.
	Fixed string
}

// Outcome is what a failure does to a lock.
type Outcome byte

// The outcomes.
const (
	Broken        Outcome = 'x' // the failure shows
	Safe          Outcome = 'o' // it does not
	Noticed       Outcome = 'n' // the hold is lost, but its owner is told in time
	Inherent      Outcome = 'i' // it shows, and no lock with a lease can prevent it
	NotApplicable Outcome = '-' // the lock lacks what the failure is about
	Elsewhere     Outcome = 'w' // it was not played: only the controlled world can
	NotTested     Outcome = 'u' // no rule is broken, but what the failure is about did not happen
	NotPlayed     Outcome = '!' // it could not be played to its end, and no rule is broken up to there
)

// IsGood tells whether the lock has done all that the failure can ask of it.
func (o Outcome) IsGood() bool { return o == Safe || o == Noticed || o == NotApplicable }

// String is the word for an outcome.
func (o Outcome) String() string {
	switch o {
	case Broken:
		return "broken"
	case Safe:
		return "safe"
	case Noticed:
		return "noticed"
	case Inherent:
		return "inherent"
	case NotApplicable:
		return "not applicable"
	case Elsewhere:
		return "world only"
	case NotTested:
		return "not told"
	}
	return "not played"
}

// Word is the outcome as people read it; String is its id.
func (o Outcome) Word() i18n.Text {
	switch o {
	case Inherent:
		return "unavoidable"
	case NotTested:
		return "not tested"
	}
	return i18n.Text(o.String())
}

// All is the catalogue of a lock of one server, family by family.
var All = concat(
	leaseFailures, ownerFailures, renewalFailures, waitingFailures, networkFailures, contextFailures,
	reentryFailures, serverFailures, limitFailures, fencedFailures, guardFailures, usageFailures,
)

// OfLocks returns the failures that are about the lock itself, and not about its users or the resource.
// Only these are asked of a lock that somebody has written.
func OfLocks() []Failure {
	return slices.DeleteFunc(slices.Clone(All), func(f Failure) bool { return f.Family == Guards || f.Family == Usage })
}

// Catalogue is every failure: All, and those of RedLock.
var Catalogue = concat(All, OfRedLock)

func concat(families ...[]Failure) []Failure {
	var all []Failure
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

// Find returns the failure of that id.
func Find(id string) (Failure, bool) {
	for _, f := range Catalogue {
		if f.ID == id {
			return f, true
		}
	}
	return Failure{}, false
}
