package kata

import (
	"slices"

	failures "lockkata/failures_test"
	"lockkata/internal/kata/judge"
)

// Exercise is one lock to be written.
type Exercise struct {
	Number int
	Title  string
	Story  string // what is wrong with the lock so far, and what to write
	// Base is the stage whose failures must not show, beside those that the
	// exercise fixes.
	Base int
	// Own says that the learner's lock of the exercise whose number is the base, or
	// for a stage the one before, is the start, if he has passed it.
	Own      int
	Start    Material
	Solution Material
	Has      []failures.Feature // what the lock has then, beyond what the base has
	Fixes    []string           // failures that the start shows, or does nothing to be told of, and that the solution survives
	Also     []string           // failures that must not come in by the change
	Hints    [3]string          // the last is almost the answer
	Fixed    string             // what the learner has fixed, in two sentences
	Predict  Prediction
	Search   Sought // what a search makes of the mistake in the start, in a lock to repair
	Question string // the interviewer's next one
	Read     string // where the answer is
}

// Sought says how a search finds a mistake, or why it cannot.
type Sought struct {
	Property, Env string
	Bound         int
	Blind         string // no property can see it: why; then the others are not set
}

// All are the exercises, in order: the six stages, the parts of the sixth one at
// a time, and locks to repair.
var All = slices.Concat(stageExercises, partExercises, repairExercises)

// Find returns the exercise of that number.
func Find(number int) (Exercise, bool) {
	if number < 1 || number > len(All) {
		return Exercise{}, false
	}
	return All[number-1], true
}

// Required are the failures that a lock must survive to pass: what the base
// survives and more, then what the exercise fixes.
func (e Exercise) Required() []string {
	var before []string
	for _, f := range failures.All {
		outcome := column(e.Base).Expect(f)
		good := outcome == failures.Safe || outcome == failures.Noticed
		if (good || slices.Contains(e.Also, f.ID)) && !slices.Contains(e.Fixes, f.ID) {
			before = append(before, f.ID)
		}
	}
	return append(before, e.Fixes...)
}

// task is what is asked of a lock.
func (e Exercise) task() judge.Task {
	return judge.Task{
		Required: e.Required(), Draw: []string{e.Predict.Failure}, Has: slices.Concat(column(e.Base).Subject.Has, e.Has),
	}
}
