package kata

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// question waits for one of its keys, and asks again for any other.
type question struct {
	keys string       // the answers; n is no
	hint i18n.Message // describes the answers
	take func(rune)   // is called unless the answer is no
}

var (
	keysAre     = i18n.New("h hint  d diff  x explore  e why  s solution  n next  l list  r reset  q quit")
	askAndPress = i18n.New("{question} Press {keys}.")
	pressOne    = i18n.New("The question comes first: press {keys}.")
	yesOrNo     = i18n.New("y for yes, n for no")
	oneOrAll    = i18n.New("1 for this exercise, a for all exercises, n for neither")
	solutionToo = i18n.New("You have not passed this exercise yet. Show the solution?")
	nextToo     = i18n.New("You have not passed this exercise yet. Go on anyway?")
	resetWhich  = i18n.New("Reset? What you wrote is kept.")
	oneTo       = i18n.New("1 to {n}, or 0 to skip it")
	yourAnswer  = i18n.New("Your answer?")
)

// press runs the command of a key, or answers the open question. It ignores unknown keys, which
// may be parts of an arrow key.
func (l *loop) press(ctx context.Context, key rune) {
	switch {
	case unicode.IsSpace(key) && l.question == nil:
	case key == 'q':
		l.over = true
	case key == keyboard.Interrupt:
		l.over, l.err = true, context.Canceled
	case l.question == nil:
		l.command(ctx, key)
	case !strings.ContainsRune(l.question.keys, key):
		l.prose(pressOne.Args("keys", l.question.hint))
	case key == 'n':
		l.question = nil
		l.bar()
	default:
		take := l.question.take
		l.question = nil
		take(key)
	}
}

func (l *loop) command(ctx context.Context, key rune) {
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
		l.unlessPassed(solutionToo, func() { l.tell(l.folder.Solution(l.view)) })
	case 'n':
		l.next()
	case 'l':
		l.tell(l.folder.Status(l.view))
	case 'r':
		l.ask(resetWhich, question{"1an", oneOrAll.Args(), func(key rune) { l.started(l.folder.Reset(key == 'a')) }})
	}
}

// bar prints the keys.
func (l *loop) bar() {
	fmt.Fprint(l.out, "\n"+l.view.line(term.Dim, l.view.say(keysAre)))
}

// tell prints a text, or the error in its place, and the keys.
func (l *loop) tell(text string, err error) {
	l.say(text, err)
	l.bar()
}

func (l *loop) ask(text i18n.Text, q question) {
	l.prose(askAndPress.Args("question", text, "keys", q.hint))
	l.question = &q
}

// unlessPassed asks for confirmation if the exercise is not passed yet.
func (l *loop) unlessPassed(text i18n.Text, do func()) {
	if e, p, err := l.folder.present(); err == nil && p.HasPassed(e.ID) {
		do()
		return
	}
	l.ask(text, question{"yn", yesOrNo.Args(), func(rune) { do() }})
}

// next starts the next exercise.
func (l *loop) next() {
	e, _, _ := l.folder.present() // without an exercise the first is next
	after, more := e.next()
	if !more {
		l.tell("", isLast.Args("id", e.ID))
		return
	}
	l.unlessPassed(nextToo, func() { l.started(l.folder.Start(after, false)) })
}

// started makes the next look print the task and check the lock, even if neither has changed.
func (l *loop) started(message i18n.Message, err error) {
	if err != nil {
		l.tell("", err)
		return
	}
	l.message, l.exercise = message, ""
}
