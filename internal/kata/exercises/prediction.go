package exercises

import (
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

// Predicted returns the exercise's prediction about the run of a lock, and false if it does not suit the run, which
// may be that of another lock.
func (e Exercise) Predicted(run failures.Cell, l i18n.Language) (*lesson.Played, bool) {
	if run.Trace == nil {
		return nil, false
	}
	known := e.Predict.known(run.Trace)
	if known < 0 {
		return nil, false
	}
	t := e.Text(l)
	part := lesson.Part{Ask: i18n.Text(t.Predict), Value: func(tr *trace.Trace) string { return e.Predict.value(tr, known) }}
	for i, choice := range t.Choices {
		part.Answers = append(part.Answers, lesson.Answer{Words: i18n.Text(choice), Claim: e.Predict.Means[i]})
	}
	played := part.On(&lesson.Run{Trace: run.Trace, Found: slices.Clone(run.Findings)}, known)
	return played, slices.Contains(played.Right, true)
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
