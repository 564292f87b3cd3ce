package kata

import (
	"context"
	"fmt"
	"unicode"

	"lockkata/internal/term"
)

// press obeys a key: an answer if something was asked, else a command. Others may be
// pieces of an arrow key.
func (l *loop) press(ctx context.Context, key rune) {
	if unicode.IsSpace(key) {
		return
	}
	l.fit()
	if answer := l.answer; answer != nil {
		l.answer = nil
		if answer(key) {
			return
		}
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
		l.unlessPassed("Show the solution?", func() { l.say(l.folder.Solution(l.view)) })
	case 'n':
		l.next()
	case 'l':
		l.tell(l.folder.Status(l.view))
	case 'r':
		l.ask("Reset: 1 = this exercise, a = all exercises, any other key = neither. What you wrote is copied first.", l.reset)
	case 'q':
		l.over = true
	}
}

// ask asks a question, and does with the next key what is to be done.
func (l *loop) ask(question string, do func(rune)) {
	fmt.Fprintln(l.out, question)
	l.answer = func(key rune) bool {
		do(key)
		l.bar()
		return true
	}
}

// unlessPassed asks before it does something that comes after a pass. What is not yes
// is no.
func (l *loop) unlessPassed(question string, do func()) {
	if e, p, err := l.folder.present(); err == nil && p.HasPassed(e.Number) {
		do()
		l.bar()
		return
	}
	l.ask("You have not passed this exercise yet. "+question+" y = yes, any other key = no", func(key rune) {
		if key == 'y' {
			do()
		}
	})
}

// next begins the next exercise. Its files are new, so a check follows.
func (l *loop) next() {
	e, _, err := l.folder.present()
	if err != nil || e.Number == len(All) {
		l.tell("This was the last exercise.\n", err)
		return
	}
	l.unlessPassed("Go on all the same?", func() {
		said, err := l.folder.Start(e.Number + 1)
		if err != nil {
			l.say("", err)
			return
		}
		l.say(l.folder.Task(l.view))
		l.say("\n"+said+"\n", nil)
		l.fresh = true
		l.seen = "" // also where the files are the same
	})
}

func (l *loop) reset(key rune) {
	if key == '1' || key == 'a' {
		said, err := l.folder.Reset(key == 'a')
		l.say(said+"\n", err)
		l.asked = 0
	}
}

// predict shows the schedule of the exercise's prediction, as it runs on the
// learner's own lock, up to the point of the question. It returns false where his
// lock takes another way than the question's.
func (l *loop) predict(r Result) bool {
	v, p := l.view, r.Exercise.Predict
	played := r.Report.Verdict(p.Failure)
	if played.Trace == nil {
		return false
	}
	q, right, err := p.on(played.Trace)
	if err != nil {
		return false
	}
	l.asked = r.Exercise.Number
	text := r.fixed(v) + "\n" + v.line(term.Bold, "What happens next, on your lock?") + "\n" + v.picture(q.Shown(), nil) + v.wrapped(p.Question)
	for i, c := range p.Choices {
		text += fmt.Sprintf("  %d  %s\n", i+1, c.Text)
	}
	fmt.Fprint(l.out, text+v.line(term.Dim, "press the number of your answer"))
	l.answer = func(key rune) bool {
		chosen, isAnswer := q.Chosen(string(key))
		if !isAnswer {
			fmt.Fprint(l.out, r.goesOn(l.view))
			return false
		}
		v, said := l.view, l.view.Color.Paint(term.Green, "Right.")
		if chosen != right {
			said = v.Color.Paint(term.Red, "No.")
		}
		l.tell(fmt.Sprintf("%s The world says: %s.\n\n%s", said, p.Choices[right].Text, v.picture(played.Trace, played.Findings)+r.goesOn(v)), nil)
		return true
	}
	return true
}
