package kata

import (
	"fmt"
	"unicode"

	"lockkata/internal/term"
)

// press obeys a key: an answer if something was asked, else a command.
func (l *loop) press(key rune) {
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
		l.say(l.folder.Hint(l.view))
	case 'd':
		l.say(l.folder.Diff(l.view))
	case 'x':
		l.explore = true
		return
	case 'e':
		l.say(l.folder.Explain(l.view))
	case 's':
		l.solution()
		return
	case 'n':
		l.next()
		return
	case 'l':
		l.say(l.folder.Status(l.view))
	case 'r':
		l.reset()
		return
	case 'q':
		l.over = true
		return
	default: // it may be a piece of an arrow key
		return
	}
	l.bar()
}

// ask asks a question. What is not yes is no.
func (l *loop) ask(question string, yes func()) {
	fmt.Fprintf(l.out, "%s y = yes, any other key = no\n", question)
	l.answer = func(key rune) bool {
		if key == 'y' {
			yes()
		}
		l.bar()
		return true
	}
}

// passed tells whether the present exercise was passed once.
func (l *loop) passed() bool {
	e, p, err := l.folder.present()
	return err == nil && p.HasPassed(e.Number)
}

func (l *loop) solution() {
	show := func() { l.say(l.folder.Solution(l.view)) }
	if l.passed() {
		show()
		l.bar()
		return
	}
	l.ask("You have not passed this exercise yet. Show the solution?", show)
}

func (l *loop) next() {
	e, _, err := l.folder.present()
	switch {
	case err != nil:
		l.say("", err)
	case e.Number == len(All):
		l.say("This was the last exercise.\n", nil)
	case !l.passed():
		l.ask("You have not passed this exercise yet. Go on all the same?", func() { l.begin(e.Number + 1) })
		return
	default:
		l.begin(e.Number + 1)
	}
	l.bar()
}

// begin begins an exercise. Its files are new, so a check follows.
func (l *loop) begin(number int) {
	said, err := l.folder.Start(number)
	if err != nil {
		l.say("", err)
		return
	}
	l.say(l.folder.Task(l.view))
	l.say("\n"+said+"\n", nil)
	l.fresh = true
	l.seen = "" // also where the files are the same
}

func (l *loop) reset() {
	fmt.Fprintln(l.out, "Reset: 1 = this exercise, a = all exercises, any other key = neither. What you wrote is copied first.")
	l.answer = func(key rune) bool {
		if key == '1' || key == 'a' {
			said, err := l.folder.Reset(key == 'a')
			l.say(said+"\n", err)
			l.asked = 0
		}
		l.bar()
		return true
	}
}

// predict shows the schedule of the exercise's prediction, as it runs on the
// learner's own lock, up to the point of the question. It returns false where his
// lock takes another way than the question's.
func (l *loop) predict() bool {
	r := l.last
	p := r.Exercise.Predict
	v := r.Report.Verdict(p.Failure)
	if v == nil || v.Trace == nil {
		return false
	}
	q, right, err := p.on(v.Trace)
	if err != nil {
		return false
	}
	l.asked = r.Exercise.Number
	fmt.Fprint(l.out, r.fixed(l.view))
	fmt.Fprintf(l.out, "\n%s\n\n%s\n%s", l.view.Color.Paint(term.Bold, "What happens next, on your lock?"), l.view.picture(q.Shown(), nil), l.view.wrap(p.Question))
	for i, c := range p.Choices {
		fmt.Fprintf(l.out, "  %d  %s\n", i+1, c.Text)
	}
	fmt.Fprintln(l.out, l.view.Color.Paint(term.Dim, "press the number of your answer"))
	l.answer = func(key rune) bool {
		chosen, isAnswer := q.Chosen(string(key))
		if isAnswer {
			said := l.view.Color.Paint(term.Green, "Right.")
			if chosen != right {
				said = l.view.Color.Paint(term.Red, "No.")
			}
			fmt.Fprintf(l.out, "%s The world says: %s.\n\n%s\n", said, p.Choices[right].Text, l.view.picture(v.Trace, v.Findings))
		}
		fmt.Fprint(l.out, r.goesOn(l.view))
		if isAnswer {
			l.bar()
		}
		return isAnswer
	}
	return true
}
