package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// defect is something that was said of a library, and that a run bears out or
// refutes.
type defect struct {
	ID      string
	Library string
	Claim   string
	Note    string // what one should know besides
	Refuted bool   // what the run is known to show
	// Card is the failure of the catalogue that shows it; else Story does, by the
	// rules that it breaks, or by what shown reads in the trace.
	Card  string
	Story failures.Failure
	shown func(*world.Trace) (bool, string)
	New   world.Constructor // the lock set up in another way; nil: as for the cards
}

// defects are the claims, in the order in which they are told.
var defects = []defect{
	{
		ID: "lost-wake-up", Library: "rueidislock", Story: leavesWhenWoken,
		Claim: "a waiter that leaves just after it was woken takes the wake-up along; the next one sleeps on beside a free lock",
		Note:  "waiters have no timer, so nothing wakes it before somebody else takes the lock and frees it",
	},
	{
		ID: "hot-loop", Library: "rueidislock", Story: holdsForALease, New: newRueidislock(false),
		Claim: "with NoLoopTracking at its default, false, a held lock renews itself without a pause",
		Note: "each renewal invalidates the holder's own key, which asks for a renewal; " +
			"the README recommends NoLoopTracking for speed",
	},
	{
		ID: "reply-lost-redislock", Library: "redislock", Card: "grant-reply-lost",
		Claim: "an acquire whose reply is lost leaves the key locked",
	},
	{
		ID: "reply-lost-redsync", Library: "redsync", Card: "grant-reply-lost", Refuted: true,
		Claim: "an acquire whose reply is lost, since the connection broke, leaves the key locked",
		Note:  "after an attempt that failed, redsync unlocks, and tries again",
	},
	{
		ID: "reply-late-redsync", Library: "redsync", Card: "deadline-in-flight",
		Claim: "an acquire whose reply comes after the caller's deadline leaves the key locked",
		Note:  "the unlock after the attempt uses the context that is over, so nothing is sent",
	},
	{
		ID: "limit-retry-counts-on", Library: "redislock", Story: asksTwice, shown: asksLess, New: newLimited,
		Claim: "LimitRetry counts over all calls: Options that are used again stop retrying",
	},
	{
		ID: "extend-takes-again", Library: "redsync", Story: extendsAfterLoss, shown: extended, New: newExtending,
		Claim: "with WithSetNXOnExtend, Extend says yes for a lock that was lost and held by somebody else meanwhile",
		Note: "it is an option, and its comment says that it sets a new key; " +
			"it does not say that the work before may have been unprotected",
	},
	{
		ID: "nil-cancel", Library: "rueidislock", Story: waitsTooLong, shown: cancelIsNil,
		Claim: "WithContext returns a nil cancel with an error, so that a deferred cancel panics",
	},
	{
		ID: "request-context-redsync", Library: "redsync", Card: "unlock-cancelled-ctx",
		New:   newRedsync(true),
		Claim: "UnlockContext with the context of a request that is over frees nothing",
		Note:  "the README's Unlock takes no context, and frees the lock: unlock-cancelled-ctx",
	},
	{
		ID: "request-context-redislock", Library: "redislock", Card: "unlock-cancelled-ctx",
		New:   newRedislock(true, true),
		Claim: "Release with the context of a request that is over frees nothing",
		Note:  "the README's watchdog releases with a context of its own, and frees the lock: unlock-cancelled-ctx",
	},
	{
		ID: "request-context-go-zero", Library: "go-zero", Card: "unlock-cancelled-ctx",
		New:   newGoZero(true),
		Claim: "ReleaseCtx with the context of a request that is over frees nothing",
		Note:  "its page's Release takes no context, and frees the lock: unlock-cancelled-ctx",
	},
	{
		ID: "resent-acquire", Library: "rueidislock", Card: "retry-nx-false",
		Claim: "rueidis sends an acquire again whose reply was lost, and the lock takes its own key for somebody else's",
		Note:  "the key stays for the rest of its validity",
	},
	{
		ID: "told-too-late", Library: "rueidislock", Card: "renew-partition",
		Claim: "a holder that cannot reach Redis learns that it lost the lock only after somebody else has it",
		Note:  "a renewal waits until the end of the validity that it asks for, not of the one that it has",
	},
	{
		ID: "inner-release-frees", Library: "go-zero", Story: releasesTheInner,
		Claim: "the lock can be re-entered, but the first Release frees every hold",
	},
	{
		ID: "no-renewal", Library: "go-zero", Card: "work-outlives-ttl",
		Claim: "the documentation says automatic renewal, and there is none",
	},
}

// verdict is the word for what a run shows.
func verdict(shown bool) string {
	if shown {
		return "reproduced"
	}
	return "refuted"
}

// printDefects tries every defect, and prints what came of it.
func printDefects(w io.Writer, e *examiner) error {
	var wrong []string
	for _, d := range defects {
		l, err := findLibrary(d.Library)
		if err != nil {
			return err
		}
		result, evidence := "not tried", fmt.Sprint(e.without)
		if !l.Live || e.without == nil {
			shown, text, err := e.try(d, l)
			if err != nil {
				return fmt.Errorf("%s: %w", d.ID, err)
			}
			result, evidence = verdict(shown), text
			if shown == d.Refuted {
				wrong = append(wrong, fmt.Sprintf("%s on %s %s: %s, and it was not so before", d.ID, l.Name, l.version(), result))
			}
		}
		fmt.Fprintf(w, "%s: %s\n  %s %s: %s\n    %s\n", result, d.ID, l.Name, l.version(), d.Claim, evidence)
		if d.Note != "" {
			fmt.Fprintf(w, "  %s\n", d.Note)
		}
		fmt.Fprintln(w)
	}
	if wrong != nil {
		return finding(strings.Join(wrong, "\n"))
	}
	return nil
}

// try tries one defect, and says what showed it.
func (e *examiner) try(d defect, l library) (shown bool, evidence string, err error) {
	f := d.Story
	if d.Card != "" {
		f, _ = failures.Find(d.Card)
	}
	if d.New != nil {
		l.Subject.New = d.New
	}
	var broke error
	err = e.play(l, []failures.Failure{f}, func(_ int, v failures.Verdict) bool {
		shown, evidence, broke = v.Outcome == failures.Broken, strings.TrimPrefix(d.Card+": "+v.Sentence(), ": "), v.Err
		if d.shown != nil && v.Err == nil {
			shown, evidence = d.shown(v.Trace)
		}
		return shown != d.Refuted
	})
	return shown, evidence, errors.Join(err, broke)
}
