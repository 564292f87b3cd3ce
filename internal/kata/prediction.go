package kata

import (
	"slices"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
)

// Prediction is what becomes a [lesson.Part] about the run of a failure on the learner's own lock. Its texts are in
// the exercise's README.
type Prediction struct {
	Failure string
	Until   string   // the last event of this kind is the first that is not shown before the question: "called B Lock"
	Asks    string   // "told B", "key after A", "insiders", "orders": see value
	Means   []string // the value that each choice claims
}

// known returns how many events are shown before the question, -1 if the run has no event of that kind.
func (p Prediction) known(tr *trace.Trace) int {
	for i, e := range slices.Backward(tr.Events) {
		if strings.HasPrefix(string(e.Kind)+" "+e.Client+" "+e.Op+" ", p.Until+" ") {
			return i
		}
	}
	return -1
}

// value returns the value that the question is about: the result of the client's next call, the owner of the key after
// its next command, the holders at the end, or the owners of the orders.
func (p Prediction) value(tr *trace.Trace, known int) string {
	client := p.Asks[strings.LastIndex(p.Asks, " ")+1:]
	switch {
	case p.Asks == "insiders":
		return strings.Join(tr.End().Insiders(), " ")
	case p.Asks == "orders":
		var owners []string
		for _, o := range tr.End().Orders {
			owners = append(owners, o.Client)
		}
		return strings.Join(owners, " ")
	}
	for i, e := range tr.Events[known:] {
		switch {
		case e.Client != client:
		case e.Kind == trace.Returned && p.Asks == "told "+client:
			return told(*e.Result)
		case e.Kind == trace.Executed && p.Asks == "key after "+client:
			for _, k := range tr.UpTo(known + i + 1).End().Keys {
				if k.Name == tr.LockKey() {
					return k.Owner.Label
				}
			}
			return "no key"
		}
	}
	return "nothing"
}

// told returns the result of a call that asks for the lock in a word.
func told(r trace.Result) string {
	switch {
	case r.Held:
		return "held"
	case r.Error == "":
		return "refused"
	case r.Claim == trace.ClaimRefused:
		return "refused with an error"
	}
	return "error"
}

// predict returns the exercise's prediction about the run of this lock, and false if it does not suit the run, which
// may be that of another lock.
func (r Result) predict(l i18n.Language) (*lesson.Played, bool) {
	p, run := r.Exercise.Predict, r.Report.Verdict(r.Exercise.Predict.Failure)
	if run.Trace == nil {
		return nil, false
	}
	known := p.known(run.Trace)
	if known < 0 {
		return nil, false
	}
	t := r.Exercise.Text(l)
	part := lesson.Part{Ask: i18n.Text(t.Predict), Value: func(tr *trace.Trace) string { return p.value(tr, known) }}
	for i, choice := range t.Choices {
		part.Answers = append(part.Answers, lesson.Answer{Words: i18n.Text(choice), Claim: p.Means[i]})
	}
	played := part.On(&lesson.Run{Trace: run.Trace, Found: slices.Clone(run.Findings)}, known)
	return played, slices.Contains(played.Right, true)
}

var (
	whatNext    = i18n.New("What happens next, on your lock?")
	answerRight = i18n.New("Right.")
	answerWrong = i18n.New("No.")
	answerNone  = i18n.New("No answer.")
	runShows    = i18n.New("{mark} The run shows: {answer}.")
)

// predict asks a prediction. After the first answer it prints the right one.
func (l *loop) predict(r Result, p *lesson.Played) {
	l.draw(r.fixed(l.view)+"\n"+l.view.line(term.Bold, l.view.say(whatNext))+"\n", nil)
	asker := &lesson.Asker{Out: l.out, Color: l.view.Color, Width: l.view.Width, Prose: prose, Language: l.view.Lang}
	asker.Show(p)
	keys := "0123456789"[:len(p.Answers)+1]
	l.ask(yourAnswer, question{keys, oneTo.Args("n", len(p.Answers)), func(key rune) {
		l.say("", nil)
		right, mark := slices.Index(p.Right, true), ""
		switch asker.Answer(p, string(key)) {
		case lesson.Right:
			mark = l.view.Color.Paint(term.Green, l.view.say(answerRight))
		case lesson.Wrong:
			mark = l.view.Color.Paint(term.Red, l.view.say(answerWrong))
		default:
			mark = l.view.say(answerNone)
			asker.Play(p, right)
		}
		l.tell(l.view.wrapped(l.view.say(runShows, "mark", mark, "answer", p.Answers[right].Words))+"\n"+r.goesOn(l.view), nil)
	}})
}
