package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// crowdSize is how many processes want one lock.
const crowdSize = 8

// crowd is some processes of one kind, and a holder here.
type crowd struct {
	kind    string
	name    string
	server  *server
	holder  *locker
	workers []*worker
}

func newCrowd(s *server, kind string, lease time.Duration) (*crowd, error) {
	set := settings{Addr: s.addr(), Lease: lease, Count: true}
	holder, _, err := open(kind, set)
	if err != nil {
		return nil, err
	}
	workers, err := startWorkers(crowdSize, kind, set)
	if err != nil {
		_ = holder.close()
		return nil, err
	}
	return &crowd{kind: kind, name: "crowd:" + kind, server: s, holder: holder, workers: workers}, nil
}

func (c *crowd) end() {
	endWorkers(c.workers)
	_ = c.holder.close()
}

// askAll gives all the same order and returns what they answer.
func (c *crowd) askAll(o order) ([]answer, error) {
	for _, w := range c.workers {
		if err := w.tell(o); err != nil {
			return nil, err
		}
	}
	return c.hearAll()
}

func (c *crowd) hearAll() ([]answer, error) {
	answers := make([]answer, len(c.workers))
	for i, w := range c.workers {
		var err error
		if answers[i], err = w.hear(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.kind, err)
		}
	}
	return answers, nil
}

// messages is how many pub/sub messages the processes have got so far.
func (c *crowd) messages() (int64, error) {
	answers, err := c.askAll(order{Do: usageOrder})
	var sum int64
	for _, a := range answers {
		sum += a.Messages
	}
	return sum, err
}

// quiet waits until the server has executed at least so many scripts and then
// nothing any more: everybody waits.
func (s *server) quiet(ctx context.Context, before counts, atLeast int) error {
	last, since := counts{}, time.Now()
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		c, err := s.counts(ctx)
		if err != nil {
			return err
		}
		if len(c.since(last)) > 1 { // INFO is one
			last, since = c, time.Now()
		}
		enough := c.since(before).scripts() >= atLeast
		if enough && time.Since(since) > 15*time.Millisecond {
			return nil
		}
		if time.Since(began) > 10*time.Second {
			return fmt.Errorf("bench: after %v there are %d scripts, not %d and then silence", time.Since(began), c.since(before).scripts(), atLeast)
		}
	}
}

// passed is what some drains of a crowd cost.
type passed struct {
	handOvers, scripts, published int
	messages                      int64
	took                          []float64 // milliseconds from an unlock to the next lock
}

// attempts are the scripts that are no unlock.
func (p passed) attempts() float64 {
	return float64(p.scripts-p.handOvers) / float64(p.handOvers)
}

func (p passed) perHandOver(n int64) float64 { return float64(n) / float64(p.handOvers) }

// drainCrowd lets all processes wait, gives the lock away, and waits until each had
// it once.
func (c *crowd) drainCrowd(ctx context.Context, p *passed) error {
	before, err := c.server.counts(ctx)
	if err != nil {
		return err
	}
	h, err := c.holder.lock(ctx, c.name)
	if err != nil {
		return err
	}
	for _, w := range c.workers {
		if err := w.tell(order{Do: turnOrder, Name: c.name}); err != nil {
			return err
		}
	}
	if err := c.server.quiet(ctx, before, 1+crowdSize); err != nil {
		return err
	}
	var called int64
	var answers []answer
	executed, err := c.server.during(ctx, func() error {
		called = now()
		if err := h.unlock(); err != nil {
			return err
		}
		answers, err = c.hearAll()
		return err
	})
	if err != nil {
		return err
	}
	p.handOvers += crowdSize
	p.scripts += executed.scripts() - 1 // the last unlock hands to nobody
	p.published += executed["publish"] + executed["spublish"]
	p.took = append(p.took, milliseconds(between(called, turnsOf(answers)))...)
	return nil
}

func turnsOf(answers []answer) []turn {
	var turns []turn
	for _, a := range answers {
		turns = append(turns, a.Turns...)
	}
	return turns
}

// between is how long each hand-over took, the first one from an unlock called
// before.
func between(called int64, turns []turn) []time.Duration {
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.Locked, b.Locked) })
	took := make([]time.Duration, len(turns))
	for i, t := range turns {
		took[i] = time.Duration(t.Locked - called)
		called = t.Unlocked
	}
	return took
}

// drainCrowds drains crowds turn by turn.
func drainCrowds(ctx context.Context, times int, crowds []*crowd) (map[string]*passed, error) {
	seen := map[string]*passed{}
	for _, c := range crowds {
		if err := c.drainCrowd(ctx, &passed{}); err != nil { // warms up
			return nil, err
		}
		had, err := c.messages()
		if err != nil {
			return nil, err
		}
		seen[c.kind] = &passed{messages: -had}
	}
	for range times {
		for _, c := range crowds {
			if err := c.drainCrowd(ctx, seen[c.kind]); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range crowds {
		had, err := c.messages()
		if err != nil {
			return nil, err
		}
		seen[c.kind].messages += had
	}
	return seen, nil
}

// onCrowds runs a measurement with crowds of these kinds at one server.
func onCrowds(ctx context.Context, kinds []string, measure func([]*crowd) ([]row, error)) ([]row, error) {
	return onServer(ctx, func(s *server) ([]row, error) {
		var crowds []*crowd
		for _, kind := range kinds {
			c, err := newCrowd(s, kind, 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			defer c.end()
			crowds = append(crowds, c)
		}
		return measure(crowds)
	})
}
