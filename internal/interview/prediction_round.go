package interview

import (
	"context"
	"fmt"
	"strconv"

	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

var (
	prediction  = i18n.New("prediction")
	twoClients  = i18n.New("Stage {stage}, {title}. Two clients want the lock:")
	inThisOrder = i18n.New("Then, in this order:")
	typeNumber  = i18n.New("Type the number of your answer.")
	noChoice    = i18n.New("{typed} is not one of the answers. Type a number from 1 to {highest}, or q to end.")
	isRight     = i18n.New("Right. The lock ran on, and the answer is: {answer}.")
	isWrong     = i18n.New("No. The lock ran on, and the answer is: {answer}.")
)

func init() {
	for _, c := range stages.Public() {
		i18n.Register(i18n.Text(c.Title))
	}
}

// foreseen is a prediction and what became of it.
type foreseen struct {
	Prediction
	marked, right bool
}

// predict shows a schedule up to a point, asks, runs it on, and marks the answer. It
// returns false when the interview is to end.
func (s *Session) predict(ctx context.Context, p Prediction) (bool, error) {
	q, err := p.Run(s.T)
	if err != nil {
		return false, err
	}
	s.round(prediction)
	s.sayApart(twoClients, "stage", p.Stage.ID, "title", i18n.Text(p.Stage.Title))
	s.print(timeline.Text(q.Shown(), nil, timeline.Options{Color: s.Color, Width: s.Width, Language: s.Language}))
	s.sayApart(inThisOrder)
	for _, step := range p.Next {
		s.prose("- " + step.Words(s.Language))
	}
	s.prose("\n**" + p.Question(s.Language) + "**")
	for i := range p.Choices {
		s.prose(fmt.Sprintf("%d. %s", i+1, p.Choice(s.Language, i)))
	}
	s.say(typeNumber)
	chosen, ok := s.choose(ctx, q)
	s.predicted = append(s.predicted, foreseen{p, ok, ok && chosen == p.Answer})
	if !ok {
		return false, nil
	}
	verdict, style := isRight, term.Green
	if chosen != p.Answer {
		verdict, style = isWrong, term.Red
	}
	s.print("\n" + s.Color.Paint(style, verdict.Localize(s.Language, "answer", p.Choice(s.Language, p.Answer))) + "\n")
	s.prove(p.replay())
	return true, nil
}

// choose reads the number of a choice, from 0; false when the interview is to end.
func (s *Session) choose(ctx context.Context, q quiz.Quiz) (int, bool) {
	for {
		line, ok := s.read(ctx)
		if !ok {
			return 0, false
		}
		if chosen, ok := q.Chosen(line); ok {
			return chosen, true
		}
		s.say(noChoice, "typed", strconv.Quote(line), "highest", len(q.Choices))
	}
}
