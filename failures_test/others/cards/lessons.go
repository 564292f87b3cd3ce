package main

import "fmt"

// property is something that a lock may promise. A failure breaks one of them.
type property string

// The properties.
const (
	excludes  property = "one holder at a time"
	ends      property = "a lock ends with its lease"
	renews    property = "the lease is renewed while the holder works"
	tellsLoss property = "the holder is told when it loses the lock"
	tellsEnd  property = "Unlock tells when the lock was lost"
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
	insists   property = "an Unlock that is refused for a moment is sent again"
	reenters  property = "the holder may take the lock again"
	answers   property = "an answer says what happened"
	reloads   property = "scripts come back after SCRIPT FLUSH"
	outlasts  property = "safe though the holder is late, or Redis loses the key"
	forces    property = "the lock can be freed from outside"
	fences    property = "a token lets the resource refuse late writes"
)

// lesson is what a failure is known to do to the libraries, a letter for each in
// their order: x broken, o safe, n noticed, i inherent, - not applicable.
type lesson struct{ failure, outcomes string }

// lessons are all of them, by the property that the failures break. A library's new
// version that does otherwise is a finding: look at it, then change the lesson.
var lessons = []struct {
	property property
	lessons  []lesson
}{
	{excludes, []lesson{{"second-client", "oooo"}, {"check-then-set", "oooo"}, {"last-millisecond", "oou-"}}},
	{ends, []lesson{{"crash-before-expire", "oooo"}, {"crash-while-holding", "oooo"}, {"lease-below-a-second", "oo--"}, {"lease-between-seconds", "ooo-"}}},
	{renews, []lesson{
		{"work-outlives-ttl", "xoxo"}, {"renew-blip", "-x-o"}, {"renew-blips", "-x-o"}, {"second-hold-renewed", "-o-o"}, {"short-lease-renewed", "-o-o"},
		{"fixed-beside-renewed", "----"}, {"acquire-context-ends", "-o-o"},
	}},
	{tellsLoss, []lesson{
		{"work-outlives-fixed-lease", "xxx-"}, {"renew-partition", "-n-x"}, {"deadline-from-reply", "-n-x"}, {"renewal-from-reply", "-n-x"}, {"renewals-unanswered", "-n-o"},
		{"key-gone", "-n-n"}, {"pool-starved", "-x--"},
	}},
	{tellsEnd, []lesson{{"loss-hidden-at-unlock", "ooo-"}, {"key-gone-at-unlock", "-n-x"}}},
	{owned, []lesson{
		{"delete-foreign", "ooo-"}, {"check-then-delete", "oooo"}, {"stranger-unlock", "oooo"},
		{"double-unlock", "oooo"}, {"late-unlock", "oox-"}, {"unlock-after-failed-unlock", "ooox"}, {"renew-foreign", "-o-o"},
	}},
	{shares, []lesson{{"shared-object", "xoxo"}, {"delete-sibling", "xoxo"}, {"two-at-once", "xoxo"}}},
	{stops, []lesson{
		{"unlock-at-once", "-o-o"}, {"unlock-error-dog-lives", "-o-x"}, {"dog-unlock-race", "-o--"},
		{"unlock-while-renewal-hangs", "-o--"},
	}},
	{limits, []lesson{{"renewed-for-ever", "oxox"}, {"reentered-for-ever", "----"}, {"hold-dropped", "oxox"}}},
	{wakes, []lesson{
		{"unlock-wakes", "---o"}, {"wake-lost", "----"}, {"wake-early", "----"}, {"waiter-leaves", "---o"}, {"waiter-gives-up", "oooo"},
		{"wake-eaten", "----"},
		{"pubsub-cut", "---o"}, {"resubscribe-refused", "----"}, {"expiry-wakes", "---o"}, {"subscription-silent", "----"}, {"idle-waiters", "xxxo"}, {"partial-unlock-wakes", "----"},
		{"publish-before-delete", "---o"},
	}},
	{orders, []lesson{{"fair-in-process", "---o"}}},
	{lateGrant, []lesson{{"slow-grant", "oxxo"}}},
	{cleansUp, []lesson{
		{"close-after-lost-grant", "----"}, {"grant-reply-lost", "oxox"}, {"grant-answered-with-error", "oxxx"}, {"cancel-in-flight", "oooo"},
		{"deadline-in-flight", "xxoo"}, {"acquire-arrives-late", "xxoo"},
	}},
	{resends, []lesson{{"grant-lost-asked-again", "oxox"}, {"retry-nx-false", "ooox"}, {"retry-unlock", "xxxo"}}},
	{frees, []lesson{{"unlock-cancelled-ctx", "oooo"}}},
	{insists, []lesson{{"unlock-refused", "xxxx"}}},
	{reenters, []lesson{
		{"self-deadlock", "xxox"}, {"dog-per-reentry", "----"}, {"inner-unlock-frees", "----"}, {"inner-lock-fails", "----"}, {"unlock-behind-reentry", "----"}, {"reentries-at-once", "----"},
		{"reentry-after-loss", "----"}, {"retry-count-two", "----"}, {"hold-released-twice", "----"},
		{"second-goroutine-reenters", "----"},
	}},
	{answers, []lesson{{"try-while-holding", "oooo"}, {"oom", "oooo"}}},
	{reloads, []lesson{{"script-flush", "oooo"}}},
	{outlasts, []lesson{
		{"process-pause", "iiii"}, {"write-delayed", "iiii"}, {"evicted-or-flushed", "iiii"}, {"failover-async", "iiii"},
		{"clock-jump", "iiii"},
	}},
	{forces, []lesson{{"forced-unlock", "----"}}},
	{fences, []lesson{
		{"process-pause-fenced", "----"}, {"write-delayed-fenced", "----"}, {"evicted-or-flushed-fenced", "----"},
		{"failover-async-fenced", "----"}, {"clock-jump-fenced", "----"}, {"token-after-flush", "----"}, {"token-after-failover", "----"}, {"token-after-clock-back", "----"}, {"token-before-grant", "----"}, {"token-after-grant", "----"},
	}},
}

// lessonOf is what a failure is about, and what it is known to do to each library.
func lessonOf(failure string) (about property, outcomes string, err error) {
	for _, p := range lessons {
		for _, l := range p.lessons {
			if l.failure == failure && len(l.outcomes) == len(libraries) {
				return p.property, l.outcomes, nil
			}
		}
	}
	return "", "", fmt.Errorf("there is no lesson of the failure %q for all of the libraries: add it to lessons.go", failure)
}
