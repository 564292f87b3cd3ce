package kata

import (
	"fmt"
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
	"lockkata/internal/term"
)

// Prediction shows the run of a failure up to a moment and asks what comes next. The rest of the
// run is the answer. Its texts are in the exercise's README.
type Prediction struct {
	Failure string
	Until   quiz.Moment // the first event that is not shown
	Asks    string      // "told B", "key after A", "insiders", "orders": see truth
	Means   []string    // the choices, in the words of the truth
	Answer  int         // the index of the choice that is right for our solution
}

// truth returns what reads the answer from the run.
func (p Prediction) truth() quiz.Truth {
	if client, ok := strings.CutPrefix(p.Asks, "told "); ok {
		return quiz.Told(client)
	}
	if client, ok := strings.CutPrefix(p.Asks, "key after "); ok {
		return quiz.KeyAfter(client)
	}
	return map[string]quiz.Truth{"insiders": quiz.Insiders, "orders": quiz.Orders}[p.Asks]
}

var (
	noMoment  = i18n.New("{failure} has no moment {moment}")
	fitsNoRun = i18n.New("{failure} {error}")
)

// on returns the question about a run of the failure, and the index of the right choice. It fails if
// the question does not fit the run, which may be that of another lock.
func (p Prediction) on(trace *world.Trace) (q quiz.Quiz, right int, err error) {
	q = quiz.Quiz{Trace: trace, Cut: p.Until.Find(trace), Asks: p.truth(), Choices: p.Means}
	if q.Cut < 0 {
		return q, 0, noMoment.Args("failure", p.Failure, "moment", fmt.Sprintf("%+v", p.Until))
	}
	if right, err = q.Right(); err != nil {
		err = fitsNoRun.Args("failure", p.Failure, "error", err)
	}
	return q, right, err
}

var (
	whatNext    = i18n.New("What happens next, on your lock?")
	answerRight = i18n.New("Right.")
	answerWrong = i18n.New("No.")
	answerNone  = i18n.New("No answer.")
	runShows    = i18n.New("{mark} The run shows: {answer}.")
)

// prompt is a prediction's question about a run of the learner's own lock.
type prompt struct {
	exercise Exercise
	run      Verdict
	quiz     quiz.Quiz
	right    int // the index of the right choice
}

// predict returns the exercise's prediction about the run of this lock, and false if the run has no
// such moment.
func (r Result) predict() (prompt, bool) {
	p := r.Exercise.Predict
	run := r.Report.Verdict(p.Failure)
	if run.Trace == nil {
		return prompt{}, false
	}
	q, right, err := p.on(run.Trace)
	return prompt{r.Exercise, run, q, right}, err == nil
}

// keys are the keys that answer.
func (p prompt) keys() string { return "0123456789"[:len(p.quiz.Choices)+1] }

// question draws the run up to its moment, and lists the choices.
func (p prompt) question(v View) string {
	t := p.exercise.Text(v.Lang)
	text := v.line(term.Bold, v.say(whatNext)) + "\n" + v.picture(p.quiz.Shown(), nil) + v.wrapped(t.Predict)
	for i, choice := range t.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, choice)
	}
	return text
}

// answer draws the whole run and marks the answer of the key.
func (p prompt) answer(v View, key rune) string {
	chosen, answered := p.quiz.Chosen(string(key))
	mark := v.Color.Paint(term.Green, v.say(answerRight))
	switch {
	case !answered:
		mark = v.say(answerNone)
	case chosen != p.right:
		mark = v.Color.Paint(term.Red, v.say(answerWrong))
	}
	return v.picture(p.run.Trace, p.run.Findings) + v.wrapped(v.say(runShows, "mark", mark, "answer", p.exercise.Text(v.Lang).Choices[p.right]))
}
