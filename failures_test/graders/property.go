package main

import "fmt"

// property is something that a lock may promise. A failure breaks one of them.
type property string

// The properties.
const (
	ends      property = "a lock ends with its lease"
	renews    property = "the lease is renewed while the holder works"
	tellsLoss property = "the holder is told when it loses the lock"
	tellsEnd  property = "Unlock tells when the lock was lost"
	excludes  property = "one holder at a time"
	owned     property = "only the holder frees or extends the lock"
	shares    property = "goroutines can share the lock object"
	stops     property = "the renewal ends with the hold"
	limits    property = "a hold has an end, even if renewed"
	wakes     property = "a waiter gets the lock when it is free, and sends nothing before"
	orders    property = "the waiters of one process are served in order"
	lateGrant property = "a grant that comes too late is none"
	cleansUp  property = "a failed acquire leaves no key"
	resends   property = "a command may be sent twice"
	frees     property = "Unlock frees the lock though the request is over"
	reenters  property = "the holder may take the lock again"
	answers   property = "an answer says what happened"
	reloads   property = "scripts come back after SCRIPT FLUSH"
	outlasts  property = "safe though the holder is late, or Redis loses the key"
	fences    property = "a token lets the resource refuse late writes"
	forces    property = "the lock can be freed from outside"
)

// properties are all of them, each with the failures that break it.
var properties = []struct {
	property property
	failures []string
}{
	{excludes, []string{"second-client", "check-then-set"}},
	{ends, []string{"crash-before-expire", "crash-while-holding"}},
	{renews, []string{"work-outlives-ttl", "renew-blip", "second-hold-renewed"}},
	{tellsLoss, []string{"work-outlives-fixed-lease", "renew-partition", "deadline-from-reply", "key-gone", "pool-starved"}},
	{tellsEnd, []string{"loss-hidden-at-unlock"}},
	{owned, []string{
		"delete-foreign", "check-then-delete", "stranger-unlock", "double-unlock", "late-unlock", "renew-foreign",
	}},
	{shares, []string{"shared-object"}},
	{stops, []string{"unlock-at-once", "unlock-error-dog-lives", "dog-unlock-race", "unlock-while-renewal-hangs"}},
	{limits, []string{"renewed-for-ever", "hold-dropped"}},
	{wakes, []string{
		"unlock-wakes", "wake-lost", "wake-early", "waiter-leaves", "wake-eaten", "pubsub-cut", "expiry-wakes",
		"idle-waiters", "partial-unlock-wakes",
	}},
	{orders, []string{"fair-in-process"}},
	{lateGrant, []string{"slow-grant"}},
	{cleansUp, []string{"grant-reply-lost", "cancel-in-flight", "deadline-in-flight"}},
	{resends, []string{"retry-nx-false", "retry-unlock"}},
	{frees, []string{"unlock-cancelled-ctx"}},
	{reenters, []string{
		"self-deadlock", "dog-per-reentry", "inner-unlock-frees", "inner-lock-fails", "reentry-after-loss", "retry-count-two",
		"hold-released-twice", "second-goroutine-reenters",
	}},
	{answers, []string{"try-while-holding", "oom"}},
	{reloads, []string{"script-flush"}},
	{outlasts, []string{"process-pause", "write-delayed", "evicted-or-flushed", "failover-async", "clock-jump"}},
	{forces, []string{"forced-unlock"}},
	{fences, []string{
		"process-pause-fenced", "write-delayed-fenced", "evicted-or-flushed-fenced", "failover-async-fenced", "clock-jump-fenced",
		"token-after-flush", "token-after-failover",
	}},
}

// propertyOf is what a failure is about.
func propertyOf(failure string) (property, error) {
	for _, p := range properties {
		for _, id := range p.failures {
			if id == failure {
				return p.property, nil
			}
		}
	}
	return "", fmt.Errorf("no property is broken by the failure %q: add it to property.go", failure)
}

// word is what a library says about a property.
type word string

// The words.
const (
	promised    word = "promised"
	limited     word = "documented limit" // its documentation says what it does not do
	notPromised word = "not promised"
)

// promise is a library's own word on a property.
type promise struct {
	Word word
	Says string // in our words
	// The place: a line of a file in the library's source, which has Has in it; or a
	// page that is no part of it.
	File string
	Line int
	Has  string
	Page string
}

// link is where the promise is read, in the version that was built in.
func (l library) link(p promise) string {
	if p.Page != "" {
		return p.Page
	}
	return fmt.Sprintf("%s%s/%s#L%d", l.Source, l.version(), p.File, p.Line)
}
