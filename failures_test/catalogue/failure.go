package catalogue

import (
	"fmt"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

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

// Can returns the sentence that names who can prevent a failure, with a place for a {command} that shows it.
func (p Preventer) Can() i18n.Text { return preventerTexts[p] }

var preventerTexts = map[Preventer]i18n.Text{
	Resource: i18n.New("The resource can: {command}"), Majority: i18n.New("A majority can: {command}"), Caller: i18n.New("The caller can: {command}"),
}

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

// MarshalText returns the failure's id.
func (f Failure) MarshalText() ([]byte, error) { return []byte(f.ID), nil }

// UnmarshalText sets the failure with an id.
func (f *Failure) UnmarshalText(id []byte) error {
	found, ok := Find(string(id))
	if !ok {
		return fmt.Errorf("catalogue: there is no failure %q", id)
	}
	*f = found
	return nil
}
