package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/redisserver"
)

// card is one failure on one library.
type card struct {
	library  library
	failure  failures.Failure
	property property
	promise  promise
	want     failures.Outcome
	outcome  failures.Outcome
	verdict  failures.Verdict // what the run came to; empty where nothing ran
	note     string           // why nothing ran, or what rule was broken instead
}

func newCard(l library, f failures.Failure) (card, error) {
	about, err := propertyOf(f.ID)
	if err != nil {
		return card{}, err
	}
	if other, ok := l.Besides[f.ID]; ok {
		about = other.Property
	}
	word, ok := l.Promises[about]
	if !ok {
		return card{}, fmt.Errorf("%s: nothing is noted of its word on %q: add it to promises.go", l.Name, about)
	}
	want, err := lesson(l.Name, f.ID)
	return card{library: l, failure: f, property: about, promise: word, want: want, note: l.Untold[f.ID]}, err
}

// judge takes over what the run came to.
func (c *card) judge(v failures.Verdict) {
	c.verdict, c.outcome = v, v.Outcome
	switch {
	case errors.Is(v.Err, live.ErrBusy):
		c.note = v.Err.Error()
	case v.Outcome == failures.Elsewhere:
		c.note = c.failure.Live
	}
	if other, ok := c.library.Besides[c.failure.ID]; ok && v.Outcome == failures.Astray && v.Err == nil {
		c.outcome, c.note = failures.Broken, other.Why
	}
}

// asExpected tells whether the card says what the lesson says, as far as it was played.
func (c card) asExpected() bool { return c.outcome == c.want || c.outcome == failures.Elsewhere }

// sentence says in one line what happened.
func (c card) sentence() string {
	if c.verdict.Outcome == 0 {
		return c.note
	}
	return c.verdict.Sentence()
}

// examiner plays failures on libraries.
type examiner struct {
	t *testing.T
	// servers are for the libraries that need a real Redis; nil, and why, without one.
	servers *live.Servers
	without error
	scripts map[string][]string // library → the scripts it uses
}

// atOnce is how many redis-servers play at once.
const atOnce = 6

// newExaminer starts redis-servers if one is installed and some library needs it.
func newExaminer(t *testing.T, needsLive bool) (*examiner, error) {
	e := &examiner{t: t, scripts: map[string][]string{}}
	if !needsLive {
		return e, nil
	}
	servers, err := live.Start(context.Background(), atOnce)
	if errors.Is(err, redisserver.ErrMissing) {
		e.without = err
		return e, nil
	}
	e.servers = servers
	return e, err
}

func (e *examiner) close() error {
	if e.servers == nil {
		return nil
	}
	return e.servers.Close()
}

// rehearse lets a library live an ordinary day.
func (e *examiner) rehearse(l library) error {
	var scripts []string
	var err error
	if l.Live {
		scripts, err = e.servers.Rehearse(l.Subject)
		noteRenewals(scripts)
	} else {
		scripts, err = failures.Rehearse(e.t, l.Subject)
	}
	if err != nil {
		return fmt.Errorf("%s does not survive an ordinary day: %w", l.Name, err)
	}
	e.scripts[l.Name] = scripts
	return nil
}

// examine plays all the failures on a library.
func (e *examiner) examine(l library, all []failures.Failure) ([]card, error) {
	cards := make([]card, len(all))
	for i, f := range all {
		c, err := newCard(l, f)
		if err != nil {
			return nil, err
		}
		c.outcome = failures.NotApplicable
		cards[i] = c
	}
	if l.Live && e.servers == nil {
		for i := range cards {
			if cards[i].want != failures.NotApplicable {
				cards[i].outcome, cards[i].note = failures.Elsewhere, cmp.Or(cards[i].failure.Live, e.without.Error())
			}
		}
		return cards, nil
	}
	if err := e.rehearse(l); err != nil {
		return nil, err
	}
	e.play(l, cards)
	for range again {
		e.replaySurprises(l, cards)
	}
	return cards, nil
}

// again is how often a live card that surprises is played once more: a busy machine
// can keep a renewal waiting for longer than a lease.
const again = 2

// replaySurprises plays live cards that are not what their lesson says, each alone.
func (e *examiner) replaySurprises(l library, cards []card) {
	for i, c := range cards {
		if l.Live && !c.asExpected() {
			e.play(l, cards[i:i+1])
		}
	}
}

// play plays what can be told of the library.
func (e *examiner) play(l library, cards []card) {
	var jobs []live.Job
	var played []int
	for i, c := range cards {
		switch {
		case l.Untold[c.failure.ID] != "":
		case l.Live:
			jobs = append(jobs, live.Job{Failure: c.failure, Subject: l.Subject, Scripts: e.scripts[l.Name]})
			played = append(played, i)
		default:
			cards[i].judge(failures.Run(e.t, c.failure, l.Subject, e.scripts[l.Name]))
		}
	}
	if l.Live {
		for j, v := range e.servers.Play(jobs) {
			cards[played[j]].judge(v)
		}
	}
}

// examineAll plays the whole catalogue on all libraries: a row for each failure.
func (e *examiner) examineAll() ([][]card, error) {
	rows := make([][]card, len(failures.All))
	for _, l := range libraries {
		cards, err := e.examine(l, failures.All)
		if err != nil {
			return nil, err
		}
		for i, c := range cards {
			rows[i] = append(rows[i], c)
		}
	}
	return rows, nil
}

// lessonRows are the cards as the lessons have them: nothing is played.
func lessonRows() ([][]card, error) {
	var rows [][]card
	for _, f := range failures.All {
		var row []card
		for _, l := range libraries {
			c, err := newCard(l, f)
			if err != nil {
				return nil, err
			}
			c.outcome = c.want
			if other, ok := l.Besides[f.ID]; ok {
				c.note = other.Why
			}
			if l.Live && f.Live != "" && c.want != failures.NotApplicable {
				c.outcome, c.note = failures.Elsewhere, f.Live
			}
			row = append(row, c)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// surprises are the cards that are not what the lesson says, a line each.
func surprises(rows [][]card) error {
	var lines []string
	for _, row := range rows {
		for _, c := range row {
			if !c.asExpected() {
				lines = append(lines, fmt.Sprintf("%s on %s %s: expected %s, got %s: %s",
					c.failure.ID, c.library.Name, c.library.version(), c.want, c.outcome, c.sentence()))
			}
		}
	}
	if lines == nil {
		return nil
	}
	return findingError{strings.Join(lines, "\n")}
}
