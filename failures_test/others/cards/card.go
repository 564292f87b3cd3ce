package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
)

// card is one failure on one library.
type card struct {
	library library
	failure failures.Failure
	about   property
	want    failures.Outcome
	outcome failures.Outcome
	verdict failures.Verdict // what the run came to; empty where nothing ran
	note    string           // why nothing ran, or what rule was broken instead
}

// newCard is a card as its lesson has it.
func newCard(l library, f failures.Failure) (card, error) {
	about, outcomes, err := lessonOf(f.ID)
	if err != nil {
		return card{}, err
	}
	want := failures.Outcome(outcomes[slices.IndexFunc(libraries, func(other library) bool { return other.Name == l.Name })])
	c := card{library: l, failure: f, about: about, want: want, outcome: want, note: l.Untold[f.ID]}
	if l.Live && f.Live != "" && want != failures.NotApplicable {
		c.outcome, c.note = failures.Elsewhere, f.Live
	}
	return c, nil
}

// judge takes over what the run came to.
func (c *card) judge(v failures.Verdict) {
	c.verdict, c.outcome = v, v.Outcome
	if errors.Is(v.Err, live.ErrBusy) {
		c.outcome, c.note = failures.Elsewhere, v.Err.Error()
	}
}

// asExpected tells whether the card says what the lesson says, as far as it was played.
func (c card) asExpected() bool { return c.outcome == c.want || c.outcome == failures.Elsewhere }

// promise is the library's word on what the failure is about.
func (c card) promise() promise { return c.library.promise(c.about) }

// sentence says in one line what happened.
func (c card) sentence() string {
	if c.verdict.Outcome == 0 {
		return c.note
	}
	return c.verdict.Sentence()
}

// surprises are the cards that are not what the lesson says, a line each.
func surprises(cards []card) error {
	var lines []string
	for _, c := range cards {
		if !c.asExpected() {
			lines = append(lines, fmt.Sprintf("%s on %s %s: expected %s, got %s: %s",
				c.failure.ID, c.library.Name, c.library.version(), c.want, c.outcome, c.sentence()))
		}
	}
	if lines == nil {
		return nil
	}
	return finding(strings.Join(lines, "\n"))
}

// examiner plays failures on libraries.
type examiner struct {
	t *testing.T
	// servers are for the libraries that need a real Redis; nil, and why, without one.
	servers *live.Servers
	without error
	ready   map[string]failures.Subject // library → its lock, with the scripts that it uses
}

// atOnce is how many redis-servers play at once.
const atOnce = 6

// withExaminer works with an examiner, which has redis-servers if one is installed.
func withExaminer(t *testing.T, work func(*examiner) error) error {
	e := &examiner{t: t, ready: map[string]failures.Subject{}}
	servers, err := live.Start(context.Background(), atOnce)
	switch {
	case err == nil:
		e.servers = servers
		return errors.Join(work(e), servers.Close())
	case errors.Is(err, redisserver.ErrMissing):
		e.without = err
		return work(e)
	}
	return err
}

// examine plays failures on a library.
func (e *examiner) examine(l library, all ...failures.Failure) ([]card, error) {
	cards := make([]card, len(all))
	var told []*card // those that can be played
	var toPlay []failures.Failure
	for i, f := range all {
		var err error
		if cards[i], err = newCard(l, f); err != nil {
			return nil, err
		}
		switch c := &cards[i]; {
		case l.Live && e.servers == nil && c.want != failures.NotApplicable:
			c.outcome, c.note = failures.Elsewhere, e.without.Error()
		case l.Live && e.servers == nil, l.Untold[f.ID] != "":
		default:
			told, toPlay = append(told, c), append(toPlay, f)
		}
	}
	return cards, e.play(l, toPlay, func(i int, v failures.Verdict) bool {
		told[i].judge(v)
		return told[i].asExpected()
	})
}

// play plays failures on a library. judge gets each verdict and says whether it is as
// expected. A live one that is not is played once more, alone, and then once more: a
// busy machine can keep a renewal waiting for longer than a lease.
func (e *examiner) play(l library, all []failures.Failure, judge func(i int, v failures.Verdict) bool) error {
	if len(all) == 0 {
		return nil
	}
	if err := e.discover(l); err != nil {
		return err
	}
	var jobs []live.Job
	subject := l.Subject // it may be set up in another way than the one that was discovered
	subject.Scripts = e.ready[l.Name].Scripts
	for i, f := range all {
		if l.Live {
			jobs = append(jobs, live.Job{Failure: f, Subject: subject})
		} else {
			judge(i, failures.Run(e.t, f, subject))
		}
	}
	if !l.Live {
		return nil
	}
	for i, v := range e.servers.Play(jobs) {
		for again := 0; !judge(i, v) && again < 2; again++ {
			v = e.servers.Play(jobs[i : i+1])[0]
		}
	}
	return nil
}

// discover finds out which scripts a library uses, the first time it is asked.
func (e *examiner) discover(l library) (err error) {
	if _, known := e.ready[l.Name]; known {
		return nil
	}
	if l.Live {
		e.ready[l.Name], err = e.servers.DiscoverScripts(l.Subject)
		noteRenewals(e.ready[l.Name].Scripts)
	} else {
		e.ready[l.Name], err = failures.DiscoverScripts(e.t, l.Subject)
	}
	return err
}
