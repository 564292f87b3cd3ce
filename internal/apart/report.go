package apart

import (
	"context"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/schedule"
)

// Report is what was found out about a lock.
type Report struct {
	Compile  *CompileError    `json:"compile_error,omitempty"`
	Cause    *guard.Cause     `json:"cause,omitempty"` // why the lock could not be judged
	Verdicts []failures.Cell  `json:"verdicts,omitempty"`
	Found    []schedule.Found `json:"found,omitempty"`   // by a search
	Differs  string           `json:"differs,omitempty"` // a schedule that the search left out
	Printed  string           `json:"printed,omitempty"` // the lock's output
	Locks    []string         `json:"locks,omitempty"`   // the keys that were taken for the lock's, in its normal use
	AuxKeys  []string         `json:"aux_keys,omitempty"`
	Asked    int              `json:"-"` // the number of failures that are to be played
}

// Verdict returns the failure's cell; it is empty if the failure was not played.
func (r Report) Verdict(failure string) failures.Cell {
	for _, c := range r.Verdicts {
		if c.Failure.ID == failure {
			return c
		}
	}
	return failures.Cell{}
}

// Order is what to play on a lock.
type Order struct {
	Failures []string         // the cells are in this order
	Required []string         // those that the lock must survive; none: all of those that fit its servers
	Draw     []string         // failures whose trace is always returned
	Played   func(n, all int) // gets the number of failures played so far; may be nil
}

// OrderOf returns all failures of locks, the required ones first.
func OrderOf(required []string) Order {
	o := Order{Required: required, Failures: slices.Clone(required)}
	for _, f := range catalogue.OfLocks() {
		if !slices.Contains(required, f.ID) {
			o.Failures = append(o.Failures, f.ID)
		}
	}
	return o
}

// Judge calls the function [Judge] for this bench.
func (b *Bench) Judge(ctx context.Context, o Order) (Report, error) { return Judge(ctx, b, o) }

// printing is a bench whose lock may print.
type printing interface {
	failures.Bench
	Printed() string
}

// Judge plays failures, the basic ones first. If one of those breaks the lock, the others are not asked.
func Judge(ctx context.Context, b printing, o Order) (r Report, err error) {
	use, err := b.Learn(ctx)
	if err != nil {
		return r, err
	}
	r.Locks, r.AuxKeys = use.Locks, use.AuxKeys
	if !use.Cause.IsLeft() {
		r.Cause = use.Cause
	}
	if r.Cause != nil && r.Cause.Kind == guard.Shares {
		r.Printed = b.Printed()
		return r, nil
	}
	var basic, rest []failures.Task
	for _, id := range o.Failures {
		f, _ := catalogue.Find(id)
		task := failures.Task{Failure: f, Draw: slices.Contains(o.Draw, id)}
		switch {
		case o.Required == nil && !use.IsFor(f):
		case f.Basic:
			basic = append(basic, task)
		default:
			rest = append(rest, task)
		}
	}
	r.Asked = len(basic) + len(rest)
	play := func(tasks []failures.Task, tell func(n, all int)) error {
		n := 0
		return b.Play(ctx, tasks, func(c failures.Cell) {
			c.Required = slices.Contains(o.Required, c.Failure.ID)
			r.Verdicts = append(r.Verdicts, c)
			if n++; tell != nil {
				tell(n, len(tasks))
			}
		})
	}
	if err = play(basic, nil); err == nil && r.Cause == nil && !BreakBasic(r.Verdicts, o.Required) {
		err = play(rest, o.Played)
	}
	slices.SortStableFunc(r.Verdicts, func(a, b failures.Cell) int {
		return slices.Index(o.Failures, a.Failure.ID) - slices.Index(o.Failures, b.Failure.ID)
	})
	r.Printed = b.Printed()
	return r, err
}

// BreakBasic reports whether a basic failure breaks the lock: a required one, if some are required.
func BreakBasic(all []failures.Cell, required []string) bool {
	return slices.ContainsFunc(all, func(c failures.Cell) bool { return c.BreaksBasic() && (c.Required || required == nil) })
}

// Ask makes searches for a report.
func (b *Bench) Ask(ctx context.Context, all []schedule.Inquiry) (r Report, err error) {
	replies, err := b.Search(ctx, all)
	for _, reply := range replies {
		r.Found = append(r.Found, reply.Found...)
		if r.Differs == "" {
			r.Differs = reply.Differs
		}
		if r.Cause == nil {
			r.Cause = reply.Cause
		}
	}
	r.Printed = b.Printed()
	return r, err
}
