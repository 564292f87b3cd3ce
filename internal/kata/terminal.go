package kata

import (
	"fmt"
	"io"
	"strings"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// terminal is what watch mode prints on.
type terminal struct {
	out      io.Writer
	view     View
	isPerson bool      // not a pipe
	fresh    bool      // the task is on the screen, and no result yet
	question *question // nil if none is open
}

// question waits for one of its keys, and asks again for any other.
type question struct {
	keys string       // the answers; n is no
	hint i18n.Message // describes the answers
	take func(rune)   // is called unless the answer is no
}

var (
	keysText         = i18n.New("h hint  d diff  x explore  e why  s solution  n next  l list  r reset  q quit")
	askText          = i18n.New("{question} Press {keys}.")
	openQuestionText = i18n.New("The question comes first: press {keys}.")
)

// say prints a text, or the error in its place, instead of a status line.
func (t *terminal) say(text string, err error) {
	if err != nil {
		text = i18n.Words(err, t.view.Lang) + "\n"
	}
	if t.isPerson {
		text = term.EraseLine + text
	}
	fmt.Fprint(t.out, text)
}

// prose prints sentences.
func (t *terminal) prose(text i18n.Message) {
	t.say(t.view.wrapped(text.Localize(t.view.Lang)), nil)
}

// bar prints the keys.
func (t *terminal) bar() {
	fmt.Fprint(t.out, "\n"+t.view.line(term.Dim, t.view.say(keysText)))
}

// tell prints a text, or the error in its place, and the keys.
func (t *terminal) tell(text string, err error) {
	t.say(text, err)
	t.bar()
}

// draw replaces what a person sees, except a task without a result.
func (t *terminal) draw(text string, err error) {
	if t.isPerson && !t.fresh {
		fmt.Fprint(t.out, term.Clear)
	}
	t.fresh = false
	t.say("\n"+text, err)
}

// show shows a screen, or the error in its place, and the keys.
func (t *terminal) show(screen func(View) string, err error) {
	text := ""
	if err == nil {
		text = screen(t.view)
	}
	t.draw(text, err)
	t.bar()
}

func (t *terminal) ask(text i18n.Text, q question) {
	t.prose(askText.Args("question", text, "keys", q.hint))
	t.question = &q
}

// answer answers the open question.
func (t *terminal) answer(key rune) {
	q := t.question
	if !strings.ContainsRune(q.keys, key) {
		t.prose(openQuestionText.Args("keys", q.hint))
		return
	}
	t.question = nil
	if key == 'n' {
		t.bar()
		return
	}
	q.take(key)
}
