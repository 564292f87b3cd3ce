package kata

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// question waits for one of some keys. Others do nothing: a stray key costs no answer.
type question struct {
	keys string       // that are answers
	hint i18n.Message // which they are, in words
	take func(rune)
}

// What is asked, and which keys are answers.
var (
	askAndPress = i18n.New("{question} Press {keys}.")
	pressOne    = i18n.New("Press {keys}.")
	yesOrNo     = i18n.New("y for yes, n for no")
	oneOrAll    = i18n.New("1 for this exercise, a for all exercises, n for neither")
	oneTo       = i18n.New("1 to {n}, or 0 for none")
	solutionToo = i18n.New("You have not passed this exercise yet. Show the solution?")
	nextToo     = i18n.New("You have not passed this exercise yet. Go on all the same?")
	beginAgain  = i18n.New("Begin again? What you wrote is kept.")
	wasLast     = i18n.New("This was the last exercise.")
	yourAnswer  = i18n.New("Your answer?")
	whatNext    = i18n.New("What happens next, on your lock?")
	answerRight = i18n.New("Right.")
	answerWrong = i18n.New("No.")
	answerNone  = i18n.New("No answer.")
	worldSays   = i18n.New("{mark} The world says: {answer}.")
)

// press obeys a key: an answer if something was asked, else a command. Others may be
// pieces of an arrow key.
func (l *loop) press(ctx context.Context, key rune) {
	if unicode.IsSpace(key) {
		return
	}
	l.fit()
	if q := l.question; q != nil && key != 'q' {
		if !strings.ContainsRune(q.keys, key) {
			fmt.Fprintln(l.out, l.view.Color.Paint(term.Dim, l.view.say(pressOne, "keys", q.hint)))
			return
		}
		l.question = nil
		q.take(key)
		l.bar()
		return
	}
	switch key {
	case 'h':
		l.tell(l.folder.Hint(l.view))
	case 'd':
		l.tell(l.folder.Diff(l.view))
	case 'x':
		l.search(ctx)
	case 'e':
		l.tell(l.folder.Explain(l.view))
	case 's':
		l.unlessPassed(solutionToo, func() { l.say(l.folder.Solution(l.view)) })
	case 'n':
		l.next()
	case 'l':
		l.tell(l.folder.Status(l.view))
	case 'r':
		l.ask(beginAgain, question{"1an", oneOrAll.Args(), l.reset})
	case 'q':
		l.over = true
	}
}

// ask asks a question.
func (l *loop) ask(text i18n.Text, q question) {
	fmt.Fprintln(l.out, l.view.say(askAndPress, "question", text, "keys", q.hint))
	l.question = &q
}

// unlessPassed asks before it does something that comes after a pass.
func (l *loop) unlessPassed(text i18n.Text, do func()) {
	if e, p, err := l.folder.present(); err == nil && p.HasPassed(e.ID) {
		do()
		l.bar()
		return
	}
	l.ask(text, question{"yn", yesOrNo.Args(), func(key rune) {
		if key == 'y' {
			do()
		}
	}})
}

// next begins the next exercise. Its files are new, so a check follows.
func (l *loop) next() {
	e, _, err := l.folder.present()
	after, more := e.next()
	if err != nil || !more {
		l.tell(l.view.say(wasLast)+"\n", err)
		return
	}
	l.unlessPassed(nextToo, func() {
		said, err := l.folder.Start(after, false)
		if err != nil {
			l.say("", err)
			return
		}
		l.begun(said)
	})
}

// begun says what an exercise is about that has just begun.
func (l *loop) begun(said i18n.Message) {
	l.say(l.folder.Task(l.view))
	l.say("\n"+said.Localize(l.view.Lang)+"\n", nil)
	l.fresh, l.asked = true, ""
	l.seen = "" // also where the files are the same
}

func (l *loop) reset(key rune) {
	if key == 'n' {
		return
	}
	said, err := l.folder.Reset(key == 'a')
	if err != nil {
		l.say("", err)
		return
	}
	l.begun(said)
}

// predict shows the schedule of the exercise's prediction, as it runs on the
// learner's own lock, up to the point of the question. It returns false where that
// lock takes another way than the question's.
func (l *loop) predict(r Result) bool {
	v, p, t := l.view, r.Exercise.Predict, r.Exercise.Text(l.view.Lang)
	played := r.Report.Verdict(p.Failure)
	if played.Trace == nil {
		return false
	}
	q, right, err := p.on(played.Trace)
	if err != nil {
		return false
	}
	l.asked = r.Exercise.ID
	text := r.fixed(v) + "\n" + v.line(term.Bold, v.say(whatNext)) + "\n" + v.picture(q.Shown(), nil) + v.wrapped(t.Predict)
	keys := "0"
	for i, choice := range t.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, choice)
		keys += fmt.Sprint(i + 1)
	}
	fmt.Fprint(l.out, text)
	l.ask(yourAnswer, question{keys, oneTo.Args("n", len(p.Means)), func(key rune) {
		v := l.view
		chosen, answered := q.Chosen(string(key))
		said := v.Color.Paint(term.Green, v.say(answerRight))
		switch {
		case !answered:
			said = v.say(answerNone)
		case chosen != right:
			said = v.Color.Paint(term.Red, v.say(answerWrong))
		}
		l.say(v.picture(played.Trace, played.Findings)+v.say(worldSays, "mark", said, "answer", t.Choices[right])+"\n\n"+r.goesOn(v), nil)
	}})
	return true
}
