package kata

import (
	"fmt"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// Prediction is a failure's run that is shown up to a moment, and the question what
// comes next. The run has the answer. The texts are in the exercise's README.
type Prediction struct {
	Failure string
	Until   quiz.Moment // the first event that is not shown
	Asks    quiz.Truth
	Means   []string // the choices, in the words of the truth
	Answer  int      // the index of the choice that is right for our solution
}

var (
	noMoment  = i18n.New("{failure} has no moment {moment}")
	fitsNoRun = i18n.New("{failure} {error}")
)

// on asks about a run of the failure, which may be another lock's. It returns the index
// of the right choice as well. It returns an error if the question does not fit the run.
func (p Prediction) on(trace *world.Trace) (q quiz.Quiz, right int, err error) {
	q = quiz.Quiz{Trace: trace, Cut: p.Until.Find(trace), Asks: p.Asks, Choices: p.Means}
	if q.Cut < 0 {
		return q, 0, noMoment.Args("failure", p.Failure, "moment", fmt.Sprintf("%+v", p.Until))
	}
	if right, err = q.Right(); err != nil {
		err = fitsNoRun.Args("failure", p.Failure, "error", err)
	}
	return q, right, err
}
