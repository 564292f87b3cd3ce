package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/redisserver"
	"lockkata/failures_test/world"
)

// defect is something that was said of a library, and that a run can bear out.
type defect struct {
	ID      string
	Library string
	Claim   string
	// Live says that it needs a redis-server.
	Live bool
	// True is what the run is known to show.
	True bool
	// Note is what one should know besides.
	Note string
	Try  func(bench) (evidence, error)
}

// evidence is what a run showed.
type evidence struct {
	Shown bool
	Lines []string
}

// bench is what a defect is tried with.
type bench struct {
	t        *testing.T
	examiner *examiner
	server   *redisserver.Server // nil without one
}

// defects are the claims, in the order in which they are told.
var defects = []defect{
	{
		ID: "lost-wake-up", Library: "rueidislock", Live: true, True: true,
		Claim: "a waiter that leaves just after it was woken takes the wake-up along; the next one sleeps on beside a free lock",
		Note:  "waiters have no timer, so nothing wakes it before somebody else takes the lock and frees it",
		Try:   tryLostWakeUp,
	},
	{
		ID: "hot-loop", Library: "rueidislock", Live: true, True: true,
		Claim: "with NoLoopTracking at its default, false, a held lock renews itself without a pause",
		Note:  "each renewal invalidates the holder's own key, which asks for a renewal; the README recommends NoLoopTracking for speed",
		Try:   tryHotLoop,
	},
	{
		ID: "reply-lost-redislock", Library: "redislock", True: true,
		Claim: "an acquire whose reply is lost leaves the key locked",
		Try:   tryCard("grant-reply-lost", "redislock"),
	},
	{
		ID: "reply-lost-redsync", Library: "redsync", True: false,
		Claim: "an acquire whose reply is lost, since the connection broke, leaves the key locked",
		Note:  "after an attempt that failed, redsync unlocks, and tries again",
		Try:   tryCard("grant-reply-lost", "redsync"),
	},
	{
		ID: "reply-late-redsync", Library: "redsync", True: true,
		Claim: "an acquire whose reply comes after the caller's deadline leaves the key locked",
		Note:  "the unlock after the attempt uses the context that is over, so nothing is sent",
		Try:   tryCard("deadline-in-flight", "redsync"),
	},
	{
		ID: "limit-retry-counts-on", Library: "redislock", True: true,
		Claim: "LimitRetry counts over all calls: Options that are used again stop retrying",
		Try:   tryLimitRetry,
	},
	{
		ID: "extend-takes-again", Library: "redsync", True: true,
		Claim: "with WithSetNXOnExtend, Extend says yes for a lock that was lost and held by somebody else meanwhile",
		Note:  "it is an option, and its comment says that it sets a new key; it does not say that the work before may have been unprotected",
		Try:   tryExtend,
	},
	{
		ID: "nil-cancel", Library: "rueidislock", Live: true, True: true,
		Claim: "WithContext returns a nil cancel with an error, so that a deferred cancel panics",
		Try:   tryNilCancel,
	},
	{
		ID: "request-context-redsync", Library: "redsync", True: true,
		Claim: "UnlockContext with the context of a request that is over frees nothing",
		Note:  "the README's Unlock takes no context, and frees the lock: unlock-cancelled-ctx",
		Try:   tryRequestContext("redsync"),
	},
	{
		ID: "request-context-redislock", Library: "redislock", True: true,
		Claim: "Release with the context of a request that is over frees nothing",
		Note:  "the README's watchdog releases with a context of its own, and frees the lock: unlock-cancelled-ctx",
		Try:   tryRequestContext("redislock"),
	},
	{
		ID: "request-context-go-zero", Library: "go-zero", True: true,
		Claim: "ReleaseCtx with the context of a request that is over frees nothing",
		Note:  "its page's Release takes no context, and frees the lock: unlock-cancelled-ctx",
		Try:   tryRequestContext("go-zero"),
	},
	{
		ID: "resent-acquire", Library: "rueidislock", Live: true, True: true,
		Claim: "rueidis sends an acquire again whose reply was lost, and the lock takes its own key for somebody else's",
		Note:  "the key stays for the rest of its validity",
		Try:   tryCard("retry-nx-false", "rueidislock"),
	},
	{
		ID: "told-too-late", Library: "rueidislock", Live: true, True: true,
		Claim: "a holder that cannot reach Redis learns that it lost the lock only after somebody else has it",
		Note:  "a renewal waits until the end of the validity that it asks for, not of the one that it has",
		Try:   tryCard("renew-partition", "rueidislock"),
	},
	{
		ID: "inner-release-frees", Library: "go-zero", True: true,
		Claim: "the lock can be re-entered, but the first Release frees every hold",
		Try:   tryInnerRelease,
	},
	{
		ID: "no-renewal", Library: "go-zero", True: true,
		Claim: "the documentation says automatic renewal, and there is none",
		Try:   tryCard("work-outlives-ttl", "go-zero"),
	},
}

// tried is a defect and what came of trying it.
type tried struct {
	defect
	evidence evidence
	skipped  error // why it was not tried
}

func (d tried) verdict() string {
	switch {
	case d.skipped != nil:
		return "not tried"
	case d.evidence.Shown:
		return "reproduced"
	}
	return "refuted"
}

func (d tried) asExpected() bool { return d.skipped != nil || d.evidence.Shown == d.True }

// tryAll tries every defect.
func tryAll(t *testing.T) (all []tried, err error) {
	e, err := newExaminer(t, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	b := bench{t: t, examiner: e}
	if e.servers != nil {
		if b.server, err = redisserver.Start(context.Background(), redisserver.Config{}); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, b.server.Close()) }()
	}
	for _, d := range defects {
		done := tried{defect: d}
		if d.Live && e.servers == nil {
			done.skipped = e.without
		} else if done.evidence, err = d.Try(b); err != nil {
			return nil, fmt.Errorf("%s: %w", d.ID, err)
		}
		all = append(all, done)
	}
	return all, nil
}

// printDefects tries every defect and prints what came of it.
func printDefects(t *testing.T, w io.Writer) error {
	all, err := tryAll(t)
	if err != nil {
		return err
	}
	var wrong []string
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		l, err := findLibrary(d.Library)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n  %s %s: %s\n", d.verdict(), d.ID, d.Library, l.version(), d.Claim)
		for _, line := range d.evidence.Lines {
			fmt.Fprintf(w, "    %s\n", line)
		}
		if d.skipped != nil {
			fmt.Fprintf(w, "    %v\n", d.skipped)
		}
		if d.Note != "" {
			fmt.Fprintf(w, "  %s\n", d.Note)
		}
		if !d.asExpected() {
			wrong = append(wrong, fmt.Sprintf("%s on %s %s: %s, and it was not so before", d.ID, d.Library, l.version(), d.verdict()))
		}
	}
	if wrong != nil {
		return findingError{strings.Join(wrong, "\n")}
	}
	return nil
}

// tryCard takes a failure of the catalogue for evidence.
func tryCard(id, name string) func(bench) (evidence, error) {
	return func(b bench) (evidence, error) {
		f, ok := failures.Find(id)
		if !ok {
			return evidence{}, fmt.Errorf("there is no failure %q", id)
		}
		l, err := findLibrary(name)
		if err != nil {
			return evidence{}, err
		}
		c, err := b.examine(f, l)
		if err != nil {
			return evidence{}, err
		}
		return evidence{c.outcome == failures.Broken, []string{
			fmt.Sprintf("%s: %s: %s", id, c.outcome, c.sentence()),
			fmt.Sprintf("go run . show %s --library %s", id, name),
		}}, nil
	}
}

// examine plays one failure on a library.
func (b bench) examine(f failures.Failure, l library) (card, error) {
	cards, err := b.examiner.examine(l, []failures.Failure{f})
	if err != nil {
		return card{}, err
	}
	return cards[0], nil
}

// told are the commands that reached Redis, with their answers, and what the calls
// came to: a line each, the same ones in a row counted.
func told(trace *world.Trace) []string {
	var lines []string
	count := 1
	add := func(line string) {
		if n := len(lines); n > 0 && (lines[n-1] == line || strings.HasPrefix(lines[n-1], line+" (")) {
			count++
			lines[n-1] = fmt.Sprintf("%s (%d times)", line, count)
			return
		}
		count = 1
		lines = append(lines, line)
	}
	for _, e := range trace.Events {
		switch {
		case e.Kind == world.Executed:
			add(fmt.Sprintf("%s: %s → %s", e.Client, strings.Join(e.Command, " "), e.Reply))
		case e.Kind == world.Returned && e.Result.Error != "":
			add(fmt.Sprintf("%s: %s: %s", e.Client, e.Op, strings.ReplaceAll(e.Result.Error, "\n", "; ")))
		case e.Kind == world.Returned:
			add(fmt.Sprintf("%s: %s: %s", e.Client, e.Op, e.Result.Claim))
		case e.Kind == world.Expired:
			add(fmt.Sprintf("at %v the lease is over", e.At))
		}
	}
	return lines
}
