package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// check is something that has to hold whichever side is which.
type check struct {
	Name string
	Text string // with two %s: one side and the other
	Run  func(ctx context.Context, r *round) (measured string, err error)
	// OneWay checks have Go as the first side only.
	OneWay bool
}

// round is a check on a lock of its own: first one side is a, then the other.
type round struct {
	*arena
	a, b side
	lock string
	// repeat is how often a check that measures does so.
	repeat int
}

// checkWithin is how long one check may take.
const checkWithin = 30 * time.Second

// checks are for a single server.
var checks = []check{
	{Name: "exclusion", Text: "%s holds, %s is refused", Run: excludes},
	{Name: "contention", Text: "owners of %s and %s all at once: never two inside", Run: contends},
	{Name: "wake-up", Text: "%s unlocks, %s waited for it", Run: wakes},
	{Name: "partial", Text: "%s re-enters and unlocks in part, %s is not woken", Run: staysAsleep},
	{Name: "counts", Text: "%s re-enters, %s sees the same lock", Run: counts},
	{Name: "ttl", Text: "%s and %s agree on the lease that is left", Run: agreesOnTTL},
	{Name: "renewal", Text: "%s renews, %s sees it and stays out", Run: renews},
	{Name: "expiry", Text: "%s's fixed lease ends, %s gets the lock", Run: expires},
	{Name: "killed", Text: "%s's process is killed, %s gets the lock", Run: outlivesKilled},
	{Name: "force", Text: "%[2]s forces %[1]s's lock", Run: forces},
	{Name: "names", Text: "%s unlocks locks of odd names, %s waited for them", Run: namesAgree},
	{Name: "token", Text: "%s's fencing token rises across a hold of %s", Run: tokensRise, OneWay: true},
}

// clusterChecks are for a Cluster: those in which slots and messages matter.
var clusterChecks = []check{
	{Name: "exclusion", Text: "%s holds, %s is refused", Run: excludes},
	{Name: "wake-up", Text: "%s unlocks, %s waited for it", Run: wakes},
	{Name: "counts", Text: "%s re-enters, %s sees the same lock", Run: counts},
	{Name: "force", Text: "%[2]s forces %[1]s's lock", Run: forces},
	{Name: "slots", Text: "%s can use every name that %s can", Run: slotsAgree, OneWay: true},
}

// result is what came of a check.
type result struct {
	ID       string // the check's name and that of the first side
	Text     string
	Measured string
	Err      error
}

func (r result) print(to io.Writer) {
	word, rest := "ok  ", r.Measured
	if r.Err != nil {
		word, rest = "FAIL", r.Err.Error()
	}
	fmt.Fprintf(to, "%s  %-62s %s\n", word, r.Text, rest)
}

// runChecks runs those checks on one variant of the Go side, in both directions,
// and hands over each result. Only those are run whose ID is wanted.
func (a *arena) runChecks(ctx context.Context, v variant, which []check, repeat int, wanted func(id string) bool, each func(result)) error {
	g, err := a.newGoSide(v)
	if err != nil {
		return err
	}
	for _, c := range which {
		for _, sides := range [][2]side{{g, a.java}, {a.java, g}} {
			if c.OneWay && sides[0] != g || !wanted(c.id(sides[0])) {
				continue
			}
			r := &round{arena: a, a: sides[0], b: sides[1], lock: a.newLock(), repeat: repeat}
			each(runOne(ctx, c, r))
		}
	}
	return g.Close()
}

// everyCheck wants them all.
func everyCheck(string) bool { return true }

// id names the check with that first side.
func (c check) id(a side) string { return c.Name + " " + a.Name() }

func runOne(ctx context.Context, c check, r *round) result {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	measured, err := c.Run(ctx, r)
	return result{c.id(r.a), fmt.Sprintf(c.Text, r.a.Name(), r.b.Name()), measured, err}
}

// owners are one owner of each side.
func (r *round) owners() (a, b owner, err error) {
	if a, err = r.a.Owner(r.lock); err != nil {
		return nil, nil, err
	}
	b, err = r.b.Owner(r.lock)
	return a, b, err
}

// unlockHeld unlocks, which has to find that the owner has the lock.
func unlockHeld(ctx context.Context, o owner) error {
	held, err := o.Unlock(ctx)
	if err == nil && !held {
		err = fmt.Errorf("its lock is gone at the unlock")
	}
	return err
}

// isRefused returns an error unless the owner is refused.
func isRefused(ctx context.Context, o owner, when string) error {
	got, err := o.TryLock(ctx)
	if err == nil && got {
		err = fmt.Errorf("the other side got the lock %s", when)
	}
	return err
}

// takesAndReturns returns an error unless the owner gets the lock at once.
func takesAndReturns(ctx context.Context, o owner) error {
	got, err := o.TryLock(ctx)
	if err != nil {
		return err
	}
	if !got {
		return fmt.Errorf("the other side does not get a lock that is free")
	}
	return unlockHeld(ctx, o)
}
