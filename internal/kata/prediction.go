package kata

import (
	"slices"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
)

var (
	predictionText = i18n.New("What happens next, on your lock?")
	answerText     = i18n.New("Your answer?")
	answerKeysText = i18n.New("1 to {n}, or 0 to skip it")
	rightText      = i18n.New("Right.")
	wrongText      = i18n.New("No.")
	noAnswerText   = i18n.New("No answer.")
	runShowsText   = i18n.New("{mark} The run shows: {answer}.")
)

// predict asks a prediction. After the first answer it prints the right one.
func (t *terminal) predict(r CheckResult, p *lesson.Played) {
	v := t.view
	t.draw(r.fixed(v)+"\n"+v.line(term.Bold, v.say(predictionText))+"\n", nil)
	asker := &lesson.Asker{Out: t.out, Color: v.Color, Width: v.Width, Prose: prose, Language: v.Lang}
	asker.Show(p)
	keys := "0123456789"[:len(p.Answers)+1]
	t.ask(answerText, question{keys, answerKeysText.Args("n", len(p.Answers)), func(key rune) {
		v := t.view // the window may have another width now
		t.say("", nil)
		right, mark := slices.Index(p.Right, true), ""
		switch asker.Answer(p, string(key)) {
		case lesson.Right:
			mark = v.Color.Paint(term.Green, v.say(rightText))
		case lesson.Wrong:
			mark = v.Color.Paint(term.Red, v.say(wrongText))
		default:
			mark = v.say(noAnswerText)
			asker.Play(p, right)
		}
		t.tell(v.wrapped(v.say(runShowsText, "mark", mark, "answer", p.Answers[right].Words))+"\n"+r.goesOn(v), nil)
	}})
}
