package interview

import (
	"context"
	"fmt"

	"lockkata/failures_test/timeline"
	"lockkata/internal/quiz"
	"lockkata/internal/term"
)

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
	s.round(s.words.Prediction)
	s.prose("\n" + fmt.Sprintf(s.words.Stage, p.Stage.ID, s.words.title(p.Stage)))
	s.print(timeline.Text(q.Shown(), nil, timeline.Options{Color: s.Color, Width: s.Width}))
	s.prose("\n" + s.words.Next)
	for _, step := range p.Next {
		s.prose("- " + step.Words(s.Language))
	}
	s.prose("\n**" + p.Question(s.Language) + "**")
	for i := range p.Choices {
		s.prose(fmt.Sprintf("%d. %s", i+1, p.Choice(s.Language, i)))
	}
	s.prose(s.words.Choose)
	chosen, ok := s.choose(ctx, q)
	s.predicted = append(s.predicted, foreseen{p, ok, ok && chosen == p.Answer})
	if !ok {
		return false, nil
	}
	said := s.Color.Paint(term.Green, fmt.Sprintf(s.words.Right, p.Choice(s.Language, p.Answer)))
	if chosen != p.Answer {
		said = s.Color.Paint(term.Red, fmt.Sprintf(s.words.Wrong, p.Choice(s.Language, p.Answer)))
	}
	s.print("\n" + said + "\n")
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
		s.prose(fmt.Sprintf(s.words.Number, line, len(q.Choices)))
	}
}
