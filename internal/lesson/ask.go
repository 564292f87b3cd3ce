package lesson

import (
	"fmt"
	"io"
	"strings"

	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

var (
	dontKnow  = i18n.New("I don’t know")
	tryThem   = i18n.New("Then try each answer: its run takes ten seconds to read.")
	notYet    = i18n.New("Not yet. Choose another answer.")
	chooseOne = i18n.New("Answer with a number from 0 to {n}, or q.")
	orderMove = i18n.New("Answer with the numbers of all moves in a possible order, as {example}, or 0, or q.")
	playedToo = i18n.New("{n} is played:")
	hintText  = i18n.New("Hint: {hint}")
)

// missesBeforeHint is the number of wrong answers after which a hint is given.
const missesBeforeHint = 3

// Reply is how a reader answers a question.
type Reply int

// The replies.
const (
	None    Reply = iota // no answer
	Unknown              // "I don't know"
	Wrong
	Right
)

// Asker asks questions in a terminal.
type Asker struct {
	Out      io.Writer
	Color    term.Color
	Width    int
	Prose    int // the most columns of a sentence
	Language i18n.Language
	Line     func() (line string, ok bool) // reads a line of the reader
}

// Say prints a text, wrapped.
func (a *Asker) Say(t i18n.Text, pairs ...any) { a.print("", t.Localize(a.Language, pairs...)) }

func (a *Asker) print(style term.Style, text string) {
	for _, line := range term.Wrap(text, min(a.Width, a.Prose)) {
		fmt.Fprintln(a.Out, a.Color.Paint(style, line))
	}
}

// Show prints what is known before a question, the question, and its answers.
func (a *Asker) Show(p *Played) {
	a.code(p)
	for _, fact := range p.Facts {
		a.Say(fact)
	}
	a.rows(p.Runs[0], 0, p.Known)
	a.print(term.Bold, p.Ask.Localize(a.Language))
	a.choices(p)
}

// code prints the lines of the code, and the file that has them.
func (a *Asker) code(p *Played) {
	if p.Path != "" {
		fmt.Fprintln(a.Out, a.Color.Paint(term.Dim, p.Path))
	}
	for _, line := range p.Lines {
		head, text := p.Show(line, a.Language)
		if line.Place > 0 {
			head = a.Color.Paint(term.Bold, head)
		}
		if line.Text == "" {
			text = a.Color.Paint(term.Bold, text)
		}
		fmt.Fprintln(a.Out, strings.Join(term.Beside(head, text, a.Width), "\n"))
	}
}

// Ask asks a question until the right answer is given, and returns the first reply. ok is false if the input ends.
func (a *Asker) Ask(p *Played) (first Reply, ok bool) {
	a.Show(p)
	for misses := 0; ; {
		line, ok := a.Line()
		if !ok {
			return first, false
		}
		reply := a.Answer(p, line)
		if first == None {
			first = reply
		}
		switch reply {
		case Right:
			return first, true
		case Unknown:
			a.Say(tryThem)
		case Wrong:
			a.Say(notYet)
			if misses++; misses >= missesBeforeHint && p.Hint != "" {
				a.Say(hintText, "hint", p.Hint)
			}
			if p.Answers[0].Line != "" {
				a.code(p) // whose lines are the answers
			}
			a.choices(p)
		}
	}
}

// choices prints the answers.
func (a *Asker) choices(p *Played) {
	for i, move := range p.Moves {
		fmt.Fprintf(a.Out, "  %d  %s\n", i+1, move.Localize(a.Language))
	}
	for i, answer := range p.Answers {
		if answer.Words != "" {
			fmt.Fprintf(a.Out, "  %d  %s\n", i+1, answer.Words.Localize(a.Language))
		}
	}
	fmt.Fprintf(a.Out, "  0  %s\n", dontKnow.Localize(a.Language))
	if len(p.Moves) > 0 {
		fmt.Fprintln(a.Out, a.how(p))
	}
}

// how describes the answers.
func (a *Asker) how(p *Played) string {
	if len(p.Moves) > 0 {
		return orderMove.Localize(a.Language, "example", p.Answers[0].Order)
	}
	return chooseOne.Localize(a.Language, "n", len(p.Answers))
}

// Answer plays the answer that a line names, and returns the reply. If the line names none, as an empty one, it
// prints which there are, and returns None.
func (a *Asker) Answer(p *Played, line string) Reply {
	i := p.Find(strings.ReplaceAll(line, " ", ""))
	switch {
	case line == "0":
		return Unknown
	case i < 0:
		fmt.Fprintln(a.Out, a.how(p))
		return None
	}
	a.Play(p, i)
	if p.Right[i] {
		return Right
	}
	return Wrong
}

// Play prints the runs of an answer, and what they show.
func (a *Asker) Play(p *Played, chosen int) {
	for _, j := range p.ToPlay(chosen) {
		if j != chosen {
			a.print(term.Bold, playedToo.Localize(a.Language, "n", j+1))
		}
		a.rows(p.Runs[j], p.Known, len(p.Runs[j].Trace.Events))
		if j != chosen {
			a.Say(p.Answers[j].Then)
		}
	}
	a.Say(p.Answers[chosen].Then)
	fmt.Fprintln(a.Out)
}

// rows prints the rows of a run that are about events from one to another.
func (a *Asker) rows(r *Run, from, to int) {
	var some []timeline.Row
	for _, row := range timeline.NewStory(r.Trace, r.Found, a.Language).Rows() {
		if row.Last >= from && row.Last < to && (row.First >= 0 || to == len(r.Trace.Events)) {
			some = append(some, row)
		}
	}
	for _, lines := range timeline.Beats(some, timeline.Options{Color: a.Color, Width: a.Width}) {
		fmt.Fprintln(a.Out, strings.Join(lines, "\n"))
	}
}
