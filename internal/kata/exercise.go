package kata

import (
	"bytes"
	"encoding/json"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Level groups exercises by what they ask of a learner.
type Level string

// The levels.
const (
	First  Level = "first" // a lock that grows from nothing to a watchdog
	Steps  Level = "steps" // the same lock, up to the whole one
	Repair Level = "repair"
)

// Exercise is one lock to be written, or to be repaired.
type Exercise struct {
	ID     string // of a lock that grows that of its stage: 6.1; of a lock to repair r1
	Folder string // in the folder exercises
	Level  Level
	Base   string // the stage whose good outcomes are asked for, and whose lock is the solution
	// Before is the exercise with whose lock this one begins: the learner's own if it has
	// passed, else the solution. "": the folder has a start.
	Before  string
	Fixes   []string // failures that the start does not survive; unless in a lock to repair, those that turn good between Before and Base
	Fresh   bool     // each hold has to write a fresh value
	Predict Prediction
	Search  Sought    // for a lock to repair: how a search finds the mistake
	Read    i18n.Text // the page that answers the interviewer's question
}

// Sought is the search that finds a mistake.
type Sought struct {
	Property, Env string
	Bound         int
	Blind         bool // no property can see it; the others are not set
}

// All are the exercises, in order: a lock that grows, from an empty one to a watchdog and on to the
// whole lock, then locks to repair.
var All = completed(table())

// table reads exercises.json.
func table() (all []Exercise) {
	raw, err := exercises.ReadFile("exercises/exercises.json")
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&all)
	}
	if err != nil {
		panic("kata: exercises.json: " + err.Error()) // every test reads it
	}
	return all
}

func init() {
	for _, e := range All {
		i18n.Register(e.Read)
	}
}

// completed fills in what follows from the stages.
func completed(all []Exercise) []Exercise {
	for i := range all {
		e := &all[i]
		if e.Level != Repair {
			e.Fixes = e.turns()
		}
		if i > 0 { // the failure of the last prediction comes first
			if at := slices.Index(e.Fixes, all[i-1].Predict.Failure); at >= 0 {
				e.Fixes = slices.Insert(slices.Delete(e.Fixes, at, at+1), 0, all[i-1].Predict.Failure)
			}
		}
	}
	return all
}

// turns returns the failures that turn good with the exercise: first those that break the
// lock before it, then those about what only the new lock has.
func (e Exercise) turns() (all []string) {
	breaks := func(f failures.Failure) bool { return e.Before != "" && column(e.Before).Expect(f) == failures.Broken }
	for _, broken := range []bool{true, false} {
		for _, f := range plainFirst() {
			if breaks(f) == broken && isGood(e.Base, f) && (e.Before == "" || !isGood(e.Before, f)) {
				all = append(all, f.ID)
			}
		}
	}
	return all
}

// plainFirst returns the failures of locks. Those with a lease of their own come last: a plainer one
// says more.
func plainFirst() []failures.Failure {
	all := failures.OfLocks()
	slices.SortStableFunc(all, func(a, b failures.Failure) int { return min(int(a.Lease), 1) - min(int(b.Lease), 1) })
	return all
}

// isGood reports whether a stage survives a failure that a Mutex can have: a Mutex needs no Close.
func isGood(id string, f failures.Failure) bool {
	outcome := column(id).Expect(f)
	return (outcome == failures.Safe || outcome == failures.Noticed) && !slices.Contains(f.Needs, failures.Closing)
}

// column returns the stage, step or document's lock with that ID.
func column(id string) stages.Stage { return stages.MustFind(id) }

var noExercise = i18n.New("there is no exercise {id}; there are 1 to 5, 6.1 to 6.5, 6, and r1 to {last}")

// Find returns the exercise with that ID. The error lists the exercises.
func Find(id string) (Exercise, error) {
	for _, e := range All {
		if e.ID == id {
			return e, nil
		}
	}
	return Exercise{}, noExercise.Args("id", id, "last", All[len(All)-1].ID)
}

// next returns the exercise after this one, and false after the last.
func (e Exercise) next() (Exercise, bool) {
	i := slices.IndexFunc(All, func(other Exercise) bool { return other.ID == e.ID })
	if i+1 == len(All) {
		return e, false
	}
	return All[i+1], true
}

// Required returns the failures that a lock must survive to pass: what the base survives
// as well, then what the exercise fixes.
func (e Exercise) Required() []string {
	var before []string
	for _, f := range plainFirst() {
		if isGood(e.Base, f) && !slices.Contains(e.Fixes, f.ID) {
			before = append(before, f.ID)
		}
	}
	return append(before, e.Fixes...)
}

// has returns what the lock of the exercise has.
func (e Exercise) has() []failures.Feature { return column(e.Base).Subject.Has }
