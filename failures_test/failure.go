package failures

import (
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Locker is a lock of one name as one owner uses it.
type Locker = world.Locker

// Subject is a lock that the catalogue judges.
type Subject struct {
	Name string
	// New makes one owner's lock of that name. It must not send anything yet.
	New func(rdb redis.UniversalClient, name string, lease time.Duration) (Locker, error)
	// Has lists what the lock has beyond a Locker; a failure that needs something
	// else does not apply.
	Has []Feature
}

// Feature is something that a lock may have, and that a failure may need.
type Feature string

// The features.
const (
	Scripts Feature = "scripts" // it runs Lua scripts
)

// Family groups failures that have one cause.
type Family string

// The families, in the order in which the matrix shows them.
const (
	Lease    Family = "the lease"
	Owner    Family = "the owner"
	Network  Family = "lost and late messages"
	Contexts Family = "contexts"
	Reentry  Family = "re-entry and sharing"
	Servers  Family = "the server"
	Limits   Family = "what no lease can prevent"
)

// Failure is one way to break a lock.
type Failure struct {
	ID     string
	Family Family
	Title  string // the failure in one line
	Story  string // what happens and why, in two or three sentences
	// Breaks names the rules that this failure is about. The lock is broken when
	// one of their monitors convicts.
	Breaks []oracle.Monitor
	// Given names rules that the story itself breaks, whatever the lock does: they
	// are judged by another failure.
	Given []oracle.Monitor
	// Stages is the expected outcome for stages 1 to 4, a letter each: x broken,
	// o safe, i inherent, - not applicable.
	Stages string
	// Inherent says that no lock with a lease can prevent it.
	Inherent bool
	Needs    []Feature
	// Client changes the go-redis options; without it, commands are sent once.
	Client func(*redis.Options)
	Script func(*world.World)
	// Fixed says, for the story, what fixes it.
	Fixed string
}

// Outcome is what a failure does to a lock.
type Outcome byte

// The outcomes.
const (
	Broken        Outcome = 'x' // the failure shows
	Safe          Outcome = 'o' // it does not
	Inherent      Outcome = 'i' // it shows, and no lock with a lease can prevent it
	NotApplicable Outcome = '-' // the lock lacks what the failure is about
	Astray        Outcome = '!' // another rule is broken than the one the failure is about, or the run did not end
)

// String is the word for an outcome.
func (o Outcome) String() string {
	switch o {
	case Broken:
		return "broken"
	case Safe:
		return "safe"
	case Inherent:
		return "inherent"
	case NotApplicable:
		return "not applicable"
	}
	return "astray"
}

// All is the catalogue, family by family.
var All = concat(leaseFailures, ownerFailures, networkFailures, contextFailures, reentryFailures, serverFailures, limitFailures)

func concat(families ...[]Failure) []Failure {
	var all []Failure
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

// Find returns the failure of that id.
func Find(id string) (Failure, bool) {
	for _, f := range All {
		if f.ID == id {
			return f, true
		}
	}
	return Failure{}, false
}
