package main

import (
	"fmt"

	failures "lockkata/failures_test"
)

// lesson is what a failure is known to do to a library. A library's new version
// that does otherwise is a finding: look at it, then change the lesson.
func lesson(name, failure string) (failures.Outcome, error) {
	for i, l := range libraries {
		if letters, ok := lessons[failure]; ok && l.Name == name && len(letters) == len(libraries) {
			return failures.Outcome(letters[i]), nil
		}
	}
	return 0, fmt.Errorf("there is no lesson of the failure %q on %s: add it to lessons.go", failure, name)
}

// lessons are the outcomes, a letter for each library in their order: x broken, o
// safe, n noticed, i inherent, - not applicable.
var lessons = map[string]string{
	// the lease
	"crash-before-expire":       "oooo",
	"work-outlives-ttl":         "xoxo",
	"work-outlives-fixed-lease": "xxxo",
	"loss-hidden-at-unlock":     "oooo",

	// the owner
	"second-client":     "oooo",
	"check-then-set":    "oooo",
	"delete-foreign":    "oooo",
	"check-then-delete": "oooo",
	"stranger-unlock":   "oooo",
	"double-unlock":     "oooo",
	"late-unlock":       "oooo",
	"try-while-holding": "oooo",
	"forced-unlock":     "----",

	// the watchdog
	"renew-foreign":              "-o-o",
	"renew-blip":                 "-o-o",
	"renew-partition":            "-n-x",
	"deadline-from-reply":        "-n-x",
	"key-gone":                   "-n-n",
	"pool-starved":               "-x--",
	"second-hold-renewed":        "-o-o",
	"dog-per-reentry":            "----",
	"unlock-at-once":             "-o-o",
	"unlock-error-dog-lives":     "-o-o",
	"dog-unlock-race":            "-x--",
	"unlock-while-renewal-hangs": "-o--",
	"crash-while-holding":        "oooo",
	"renewed-for-ever":           "oxox",
	"hold-dropped":               "oxox",

	// waiters
	"unlock-wakes":         "---o",
	"wake-lost":            "----",
	"wake-early":           "----",
	"waiter-leaves":        "---o",
	"wake-eaten":           "----",
	"pubsub-cut":           "---o",
	"expiry-wakes":         "---o",
	"fair-in-process":      "---o",
	"idle-waiters":         "----",
	"partial-unlock-wakes": "----",

	// lost and late messages
	"slow-grant":       "oxxo",
	"grant-reply-lost": "oxoo",
	"retry-nx-false":   "ooox",
	"retry-unlock":     "xxxo",

	// contexts
	"cancel-in-flight":     "oooo",
	"deadline-in-flight":   "xxoo",
	"unlock-cancelled-ctx": "oooo",

	// re-entry and sharing
	"self-deadlock":             "xxox",
	"shared-object":             "xoxo",
	"inner-unlock-frees":        "----",
	"inner-lock-fails":          "----",
	"reentry-after-loss":        "----",
	"retry-count-two":           "----",
	"hold-released-twice":       "----",
	"second-goroutine-reenters": "----",

	// the server
	"script-flush": "oooo",
	"oom":          "oooo",

	// what no lease can prevent
	"process-pause":      "iiii",
	"write-delayed":      "iiii",
	"evicted-or-flushed": "iiii",
	"failover-async":     "iiii",
	"clock-jump":         "iiii",

	// the same with a fenced ledger
	"process-pause-fenced":      "----",
	"write-delayed-fenced":      "----",
	"evicted-or-flushed-fenced": "----",
	"failover-async-fenced":     "----",
	"clock-jump-fenced":         "----",
	"token-after-flush":         "----",
	"token-after-failover":      "----",
}
