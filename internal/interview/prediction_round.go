package interview

import (
	"context"
	"fmt"
	"strconv"

	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
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
	because     = i18n.New("Why? {why} More: {file}")
	mayHappen   = i18n.New("What may happen: {env}.")
)

// foreseen is a prediction with its mark.
type foreseen struct {
	Prediction
	right bool
}

// predict shows a schedule up to a point, asks, shows the whole run, and marks the answer. It
// returns false to end the interview.
func (s *Session) predict(ctx context.Context, p Prediction) bool {
	s.round(prediction)
	s.sayApart(mayHappen, "env", p.Setup.Env.About)
	s.say(twoClients, "stage", p.Stage.ID, "title", i18n.Text(p.Stage.Title))
	s.print(timeline.Text(p.drawn(), nil, timeline.Options{Color: s.Color, Width: s.Width, Language: s.Language}))
	s.sayApart(inThisOrder)
	for _, step := range p.Next {
		s.prose("- " + step.Localize(s.Language))
	}
	s.prose("\n**" + p.Question.Localize(s.Language) + "**")
	for i, choice := range p.Choices {
		s.prose(fmt.Sprintf("%d. %s", i+1, choice.Localize(s.Language)))
	}
	s.say(typeNumber)
	for {
		line, ok := s.read(ctx)
		chosen, err := strconv.Atoi(line)
		if ok && (err != nil || chosen < 1 || chosen > len(p.Choices)) {
			s.say(noChoice, "typed", strconv.Quote(line), "highest", len(p.Choices))
			continue
		}
		right := ok && chosen == p.Answer+1
		s.predicted = append(s.predicted, foreseen{p, right})
		if !ok {
			return false
		}
		verdict, style := isRight, term.Green
		if !right {
			verdict, style = isWrong, term.Red
		}
		s.print("\n" + s.Color.Paint(style, verdict.Localize(s.Language, "answer", p.Choices[p.Answer])) + "\n")
		s.say(because, "why", p.Why, "file", folder.Localize(s.Language)+"/"+p.Entry)
		s.prove("go run . replay '" + p.Text() + "'")
		return true
	}
}
