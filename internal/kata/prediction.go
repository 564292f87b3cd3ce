package kata

import (
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// Prediction shows the run of a failure up to a moment and asks what comes next. The rest of the run
// gives the answer. Its texts are in the exercise's README.
type Prediction struct {
	Failure string
	Until   Moment   // the first event that is not shown
	Asks    string   // "told B", "key after A", "insiders", "orders": see truth
	Means   []string // the choices as truth returns them
	Answer  int      // the index of the choice that is true for our solution
}

// Moment is an event of a run.
type Moment struct {
	Kind   trace.Kind
	Client string
	Op     string // "" for any
	Nth    int    // counted from 1; 0 means the first
}

// find returns the index of the event in the trace, -1 if it does not happen.
func (m Moment) find(tr *trace.Trace) int {
	seen := 0
	return slices.IndexFunc(tr.Events, func(e trace.Event) bool {
		if e.Kind == m.Kind && e.Client == m.Client && (m.Op == "" || e.Op == m.Op) {
			seen++
			return seen >= m.Nth
		}
		return false
	})
}

// truth returns the answer from a run that is shown up to an event: the result of the client's next
// call, the owner of the key after its next command, the holders at the end, or the owners of orders.
func (p Prediction) truth(tr *trace.Trace, shown int) string {
	switch p.Asks {
	case "insiders":
		return game.Names(tr.End().Insiders())
	case "orders":
		var names []string
		for _, o := range tr.End().Orders {
			names = append(names, o.Client)
		}
		return game.Names(names)
	}
	client := p.Asks[strings.LastIndex(p.Asks, " ")+1:]
	for i, e := range tr.Events {
		switch {
		case i < shown || e.Client != client:
		case e.Kind == trace.Returned && p.Asks == "told "+client:
			return game.ResultWord(*e.Result)
		case e.Kind == trace.Executed && p.Asks == "key after "+client:
			return game.KeyOwner(tr.UpTo(i + 1))
		}
	}
	return "nothing"
}

// on returns how many events of a run are shown, and the index of the right choice. Either is -1 if
// the question does not suit the run, which may be that of another lock.
func (p Prediction) on(tr *trace.Trace) (shown, right int) {
	if shown = p.Until.find(tr); shown < 0 {
		return shown, -1
	}
	return shown, slices.Index(p.Means, p.truth(tr, shown))
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
	shown    int // how many events of the run are drawn before the question
	right    int // the index of the right choice
}

// predict returns the exercise's prediction about the run of this lock, and false if the run has no
// such moment.
func (r Result) predict() (prompt, bool) {
	run := r.Report.Verdict(r.Exercise.Predict.Failure)
	if run.Trace == nil {
		return prompt{}, false
	}
	shown, right := r.Exercise.Predict.on(run.Trace)
	return prompt{r.Exercise, run, shown, right}, right >= 0
}

// keys returns the keys for the answers.
func (p prompt) keys() string { return "0123456789"[:len(p.exercise.Predict.Means)+1] }

// question draws the run up to its moment, and lists the choices.
func (p prompt) question(v View) string {
	t := p.exercise.Text(v.Lang)
	text := v.line(term.Bold, v.say(whatNext)) + "\n" + v.picture(p.run.Trace.UpTo(p.shown), nil) + v.wrapped(t.Predict)
	for i, choice := range t.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, choice)
	}
	return text
}

// answer draws the whole run and marks the answer of the key.
func (p prompt) answer(v View, key rune) string {
	mark := v.Color.Paint(term.Green, v.say(answerRight))
	switch {
	case key == '0':
		mark = v.say(answerNone)
	case int(key-'1') != p.right:
		mark = v.Color.Paint(term.Red, v.say(answerWrong))
	}
	return v.picture(p.run.Trace, p.run.Findings) + v.wrapped(v.say(runShows, "mark", mark, "answer", p.exercise.Text(v.Lang).Choices[p.right]))
}
