package kata

import (
	"slices"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Exercise is one lock to be written, or to be repaired.
type Exercise struct {
	ID    string // of a step on the stairs that of its column: 6.1; of a lock to repair r1
	Title i18n.Text
	Story i18n.Text // what is wrong with the lock so far, and what to write
	// Base is the column whose good outcomes are asked for.
	Base string
	// Before is the exercise with whose lock this one begins: the learner's own, if it has
	// passed, else ours. "": with Start.
	Before   string
	Start    Material
	Solution Material     // without one it is the lock of the base
	Fixes    []string     // failures that a mistake in the start shows; on the stairs what turns between Before and Base
	Fresh    bool         // each hold has to write a value of its own
	Hints    [3]i18n.Text // the last is almost the answer
	Fixed    i18n.Text    // what has been fixed, in two sentences
	Predict  Prediction
	Search   Sought    // what a search makes of the mistake in the start, in a lock to repair
	Question i18n.Text // the interviewer's next one
	Read     i18n.Text // where the answer is
}

// Sought says how a search finds a mistake, or why it cannot.
type Sought struct {
	Property, Env string
	Bound         int
	Blind         i18n.Text // no property can see it: why; then the others are not set
}

// All are the exercises, in order: one lock that grows, and locks to repair.
var All = completed(slices.Concat(stageExercises, stepExercises, repairExercises))

func init() {
	for _, e := range All {
		i18n.Register(e.Title, e.Story, e.Fixed, e.Search.Blind, e.Predict.Question, e.Question, e.Read)
		i18n.Register(e.Hints[:]...)
		for _, c := range e.Predict.Choices {
			i18n.Register(c.Text)
		}
	}
}

// completed fills in what follows from the columns.
func completed(all []Exercise) []Exercise {
	solutions := map[string]Material{}
	for i := range all {
		e := &all[i]
		if e.Solution.Column == "" {
			e.Solution = Material{Column: e.Base}
		}
		solutions[e.ID] = e.Solution
		if e.Before != "" {
			e.Start = solutions[e.Before]
		}
		if e.onStairs() {
			e.Fixes = e.turns()
		}
		if i > 0 { // what the exercise before has asked about comes first
			if at := slices.Index(e.Fixes, all[i-1].Predict.Failure); at >= 0 {
				e.Fixes = slices.Insert(slices.Delete(e.Fixes, at, at+1), 0, all[i-1].Predict.Failure)
			}
		}
	}
	return all
}

// onStairs tells whether the exercise is a step of the lock that grows.
func (e Exercise) onStairs() bool { return e.ID == e.Base }

// turns are the failures that turn good with the exercise: first those that break the lock
// before it, then those that it has nothing to be told of.
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

// plainFirst are all failures; those with a lease of their own come last: a lock that has a
// plainer one is told of that.
func plainFirst() []failures.Failure {
	all := slices.Clone(failures.All)
	slices.SortStableFunc(all, func(a, b failures.Failure) int { return min(int(a.Lease), 1) - min(int(b.Lease), 1) })
	return all
}

// isGood tells whether a column survives a failure. A Mutex, which an exercise asks for, is
// closed by nobody.
func isGood(id string, f failures.Failure) bool {
	outcome := column(id).Expect(f)
	return (outcome == failures.Safe || outcome == failures.Noticed) && !slices.Contains(f.Needs, failures.Closing)
}

// column is the one with that ID.
func column(id string) stages.Stage { return stages.MustFind(id) }

var noExercise = i18n.New("there is no exercise {id}; there are 1 to 5, 6.1 to 6.5, 6, and r1 to {last}")

// Find returns the exercise with that ID. The error says which there are.
func Find(id string) (Exercise, error) {
	for _, e := range All {
		if e.ID == id {
			return e, nil
		}
	}
	return Exercise{}, noExercise.Args("id", id, "last", All[len(All)-1].ID)
}

// next is the exercise after this one; false after the last.
func (e Exercise) next() (Exercise, bool) {
	i := slices.IndexFunc(All, func(other Exercise) bool { return other.ID == e.ID })
	if i+1 == len(All) {
		return e, false
	}
	return All[i+1], true
}

// Required are the failures that a lock must survive to pass: what the base
// survives and more, then what the exercise fixes.
func (e Exercise) Required() []string {
	var before []string
	for _, f := range plainFirst() {
		if isGood(e.Base, f) && !slices.Contains(e.Fixes, f.ID) {
			before = append(before, f.ID)
		}
	}
	return append(before, e.Fixes...)
}

// title returns the exercise's title in English.
func (e Exercise) title() string { return e.Text(i18n.English).Title }

type exerciseText struct{ Title string }

func (e Exercise) Text(l i18n.Language) exerciseText { return exerciseText{e.Title.Localize(l)} }
