// Package exercises has the exercises of the kata: their texts, starts, solutions and predictions. [All] lists them.
package exercises

import (
	"bytes"
	"embed"
	"encoding/json"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Exercise is a lock to write or to repair.
type Exercise struct {
	ID     string // the stage's ID, such as 6.1, or r1 for a lock to repair
	Folder string // with its texts
	Lock   string // the ID of the stage whose good outcomes are required, and whose lock is the solution
	// Before is the exercise whose lock is the start of this one: the learner's own lock if it
	// passed, else the solution. "": the folder has a start, or the exercise has Changes.
	Before  string
	Changes []edits.Change // make the start of the lock
	Repair  []edits.Change // make the solution of the start, where the lock is no solution
	Fixes   []string       // failures that break the start; by default those that Lock fixes after Before
	Predict Prediction
	Search  Query     // for a lock to repair: the search that finds the mistake
	Read    i18n.Text // the page that answers the interviewer's question

	Language i18n.Language `json:"-"` // of the comments in the files that the kata writes
}

// Query is what a search looks for.
type Query struct {
	Property string // "" for all
	Env      string // "" for all environments of the property
	Bound    int    // the most faults; -1 for each question's own
	Blind    bool   // no property can see the mistake of an exercise; the others are not set
}

// Prediction is what becomes a question about the run of a failure on the learner's own lock. Its texts are in
// the exercise's README.
type Prediction struct {
	Failure string
	Until   string   // the last event of this kind is the first that is not shown before the question: "called B Lock"
	Asks    string   // "told B", "key after A", "insiders", "orders": see value
	Means   []string // the value that each choice claims
}

// data has a folder for each exercise: its texts, and the files that no lock of the repository has.
//
//go:embed exercises.json [0-9]* r[0-9]*
var data embed.FS

// All are the exercises, in order: from an empty lock to a watchdog and to the lock of stage 6, then
// the locks to repair.
var All = completed(table())

// table reads exercises.json.
func table() (all []Exercise) {
	raw, err := data.ReadFile("exercises.json")
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&all)
	}
	if err != nil {
		panic("kata: exercises.json: " + err.Error()) // each test parses it
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
		if !e.IsRepair() {
			e.Fixes = e.fixedFailures()
		}
		if i > 0 { // the failure of the prediction before comes first
			if at := slices.Index(e.Fixes, all[i-1].Predict.Failure); at >= 0 {
				e.Fixes = slices.Insert(slices.Delete(e.Fixes, at, at+1), 0, all[i-1].Predict.Failure)
			}
		}
	}
	return all
}

// fixedFailures returns the failures that the exercise fixes: first those that break the lock before, then
// those that apply only to the new lock.
func (e Exercise) fixedFailures() (all []string) {
	breaks := func(f catalogue.Failure) bool {
		return e.Before != "" && stages.MustFind(e.Before).Expect(f) == failures.Broken
	}
	for _, broken := range []bool{true, false} {
		for _, f := range plainFirst() {
			if breaks(f) == broken && isGood(e.Lock, f) && (e.Before == "" || !isGood(e.Before, f)) {
				all = append(all, f.ID)
			}
		}
	}
	return all
}

// plainFirst returns the failures of locks, those with a lease of their own last: a failure with
// the usual lease is easier to understand.
func plainFirst() []catalogue.Failure {
	all := catalogue.OfLocks()
	slices.SortStableFunc(all, func(a, b catalogue.Failure) int { return min(int(a.Lease), 1) - min(int(b.Lease), 1) })
	return all
}

// isGood reports whether a stage survives a failure that applies to a Mutex, which has no Close.
func isGood(id string, f catalogue.Failure) bool {
	outcome := stages.MustFind(id).Expect(f)
	return (outcome == failures.Safe || outcome == failures.Noticed) && !slices.Contains(f.Needs, catalogue.Closing)
}

var (
	unknownIDText = i18n.New("there is no exercise {id}; there are 1 to 5, 6.1 to 6.5, 6, and r1 to {last}")
	noNextText    = i18n.New("exercise {id} is the last one")
)

// Find returns the exercise with that ID. The error lists the exercises.
func Find(id string) (Exercise, error) {
	for _, e := range All {
		if e.ID == id {
			return e, nil
		}
	}
	return Exercise{}, unknownIDText.Args("id", id, "last", All[len(All)-1].ID)
}

// Next returns the exercise after this one. After the last one it returns that one, and an error.
func (e Exercise) Next() (Exercise, error) {
	i := slices.IndexFunc(All, func(other Exercise) bool { return other.ID == e.ID })
	if i+1 == len(All) {
		return e, noNextText.Args("id", e.ID)
	}
	return All[i+1], nil
}

// IsRepair reports whether the start is a lock to repair.
func (e Exercise) IsRepair() bool { return e.Search != Query{} }

// Required returns the failures that a lock must survive to pass: those that its stage survives,
// then those that the exercise fixes.
func (e Exercise) Required() []string {
	var before []string
	for _, f := range plainFirst() {
		if isGood(e.Lock, f) && !slices.Contains(e.Fixes, f.ID) {
			before = append(before, f.ID)
		}
	}
	return append(before, e.Fixes...)
}
