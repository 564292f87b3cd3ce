package failures

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
)

// Bench is a lock on which failures can be played, wherever it runs: in this process ([Here]), in processes
// of its own (package apart), or on real servers (package live).
type Bench interface {
	// Learn plays normal use, and returns what the lock uses. An error is about the lock or the machine.
	Learn(ctx context.Context) (Use, error)
	// Play plays the tasks, several at once if it can, and passes each result to each, one at a time. When ctx
	// ends it begins no other task and returns the context's error.
	Play(ctx context.Context, tasks []Task, each func(Cell)) error
	// Close frees what the bench needs. Calls under way have to end first.
	Close() error
}

// Use is what a lock uses in Redis, and what follows from it.
type Use struct {
	Scripts []string     `json:"scripts,omitempty"`
	AuxKeys []string     `json:"aux_keys,omitempty"`
	Locks   []string     `json:"locks,omitempty"`   // its other keys, as they are in normal use
	Waits   bool         `json:"waits,omitempty"`   // it sends WAIT, and runs on a master with replicas
	Several bool         `json:"several,omitempty"` // it is a lock of several servers
	Without []Verdict    `json:"without,omitempty"` // on failures that do not apply to it
	Cause   *guard.Cause `json:"cause,omitempty"`   // why it fails in normal use
}

// IsFor reports whether a failure is one of those for locks on as many servers.
func (u Use) IsFor(f catalogue.Failure) bool {
	switch f.Family {
	case catalogue.RedLock:
		return u.Several
	case catalogue.Replication:
		return u.Waits
	}
	return !u.Several
}

// Task is a failure to play.
type Task struct {
	Failure catalogue.Failure
	Draw    bool // return the trace even if the lock survives
}

// Tasks returns a task for each failure.
func Tasks(all []catalogue.Failure) []Task {
	tasks := make([]Task, len(all))
	for i, f := range all {
		tasks[i].Failure = f
	}
	return tasks
}

// Cell is the verdict on a task, and what a bench or a report adds to it.
type Cell struct {
	Verdict
	Shows    []Feature    `json:"shows,omitempty"` // features that the run shows but the lock does not declare
	Required bool         `json:"required"`        // an exercise requires the lock to survive it
	Cause    *guard.Cause `json:"cause,omitempty"` // why the run did not end, or what it left behind
	Again    string       `json:"again,omitempty"` // the outcome of the second run if it differs
}

// BreaksBasic reports whether a basic failure could not be played, or breaks one of its own rules.
func (c Cell) BreaksBasic() bool {
	against, _ := c.Against()
	return c.Failure.Basic && (c.Outcome == NotPlayed || slices.Contains(c.Failure.Breaks, against.Rule))
}

// Here returns the bench of a lock in this process, for locks that are known to end.
func Here(t *testing.T, s Subject) Bench { return &here{t: t, subject: s} }

type here struct {
	t       *testing.T
	subject Subject
	use     *Use
}

func (b *here) Learn(context.Context) (Use, error) {
	if b.use == nil {
		s, err := DiscoverScripts(b.t, b.subject)
		if err != nil {
			return Use{}, err
		}
		b.subject = s
		b.use = &Use{Scripts: s.Scripts, Several: s.NewOver != nil, Waits: slices.Contains(s.Has, Waits), Without: s.Without(catalogue.Everything)}
	}
	return *b.use, nil
}

// Without returns the verdicts on those failures that do not apply to the lock.
func (s Subject) Without(all []catalogue.Failure) (without []Verdict) {
	for _, f := range all {
		if !Applies(f, s) {
			without = append(without, Judge(f, s, nil))
		}
	}
	return without
}

func (b *here) Play(ctx context.Context, tasks []Task, each func(Cell)) error {
	_, err := b.Learn(ctx)
	for _, task := range tasks {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		each(Cell{Verdict: Run(b.t, task.Failure, b.subject)})
	}
	return err
}

func (b *here) Close() error { return nil }

// Keep returns a bench that plays each failure once, and keeps its cell in kept by the failure's ID. The runs of
// a failure on [Here] are all the same.
func Keep(b Bench, kept map[string]Cell) Bench { return keeping{b, kept} }

type keeping struct {
	Bench
	kept map[string]Cell
}

func (b keeping) Play(ctx context.Context, tasks []Task, each func(Cell)) error {
	var others []Task
	for _, task := range tasks {
		if cell, known := b.kept[task.Failure.ID]; known {
			each(cell)
		} else {
			others = append(others, task)
		}
	}
	if len(others) == 0 {
		return ctx.Err()
	}
	return b.Bench.Play(ctx, others, func(c Cell) {
		b.kept[c.Failure.ID] = c
		each(c)
	})
}

// Rows plays failures on several locks: a row for each failure, with a verdict for each bench. Each bench gets
// some failures at a time: one in this process, where a heap that grows makes later failures dearer.
func Rows(ctx context.Context, all []catalogue.Failure, benches []Bench, some int) ([][]Verdict, error) {
	rows := make([][]Verdict, len(all))
	at := map[string]int{}
	for i, f := range all {
		rows[i], at[f.ID] = make([]Verdict, len(benches)), i
	}
	for part := range slices.Chunk(all, some) {
		for n, b := range benches {
			if err := b.Play(ctx, Tasks(part), func(c Cell) { rows[at[c.Failure.ID]][n] = c.Verdict }); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}
