package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

func (a *app) learnCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "learn [CHAPTER]",
		Short: "A lesson that asks first: eight chapters, a run for each answer",
		Long: "learn asks before it shows: where must a process stop, who is inside then? Each answer is played, " +
			"also a wrong one. Without a chapter it goes on where you were. Each line of the input is one answer, so " +
			"it can be piped; 0 is \"I don't know\", q ends it.",
		Example: "go run . learn",
		Args:    words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			learned := interview.LoadMemory(a.configDir, "lesson.json")
			at := 0
			for at < len(lesson.Chapters)-1 && slices.Contains(learned.IDs, strconv.Itoa(at)) {
				at++
			}
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 0 || n >= len(lesson.Chapters) {
					return noChapter.Args("name", strconv.Quote(args[0]), "last", len(lesson.Chapters)-1)
				}
				at = n
			}
			_, typed := keyboard.Terminal(cmd.InOrStdin())
			l := &learner{app: a, in: bufio.NewScanner(cmd.InOrStdin()), echo: !typed}
			for ; at < len(lesson.Chapters) && !l.over; at++ {
				if err := l.chapter(at); err != nil {
					return err
				}
				if !l.over && learned.Err == nil {
					learned = interview.LoadMemory(a.configDir, "lesson.json")
					learned.Err = learned.Update(map[string]bool{strconv.Itoa(at): false})
				}
			}
			if learned.Err != nil {
				a.note(notKept, "error", learned.Err)
			}
			return nil
		},
	}
}

var (
	notKept   = i18n.New("Where you are is not remembered: {error}")
	noChapter = i18n.New("there is no chapter {name}; there are 0 to {last}")
	chapterOf = i18n.New("{n} of {all} · {title}")
	dontKnow  = i18n.New("I don’t know")
	tryThem   = i18n.New("Then try them: ten seconds each, and nothing is counted.")
	chooseOne = i18n.New("Answer with a number from 0 to {n}, or q.")
	orderMove = i18n.New("Answer with the numbers of all moves in your order, as 1234, or q.")
	remember  = i18n.New("Remember: {what}")
	sayIt     = i18n.New("Say it in an interview: {where}")
)

// learner is a lesson in a terminal.
type learner struct {
	*app
	in   *bufio.Scanner
	echo bool // the input is not typed in a terminal
	over bool
}

// chapter asks the questions of a chapter until each is answered rightly or the input ends.
func (l *learner) chapter(n int) error {
	c := lesson.Chapters[n]
	fmt.Fprintln(l.out, l.color.Paint(term.Bold, l.say(chapterOf, "n", n, "all", len(lesson.Chapters)-1, "title", c.Title)))
	l.prose("", 0, l.say(c.Lead))
	for _, p := range c.Parts {
		played, err := p.Play(l.t, l.sources)
		if err != nil {
			return failedError{err}
		}
		l.situation(played)
		for right := false; !right && !l.over; {
			right = l.ask(played)
		}
		if l.over {
			return nil
		}
	}
	l.prose("", 0, l.color.Paint(term.Bold, l.say(remember, "what", c.Remember)))
	if c.Entry != "" {
		fmt.Fprintln(l.out, l.say(sayIt, "where", "docs/interview/must.md#"+c.Entry))
	}
	l.prose("", 0, l.say(c.Next))
	fmt.Fprintln(l.out)
	return nil
}

// situation prints what is known before a question.
func (l *learner) situation(p *lesson.Played) {
	for _, line := range p.Lines {
		var style term.Style
		if line.Place > 0 {
			style = term.Bold
		}
		fmt.Fprintln(l.out, l.color.Paint(style, p.Show(line, l.lang)))
	}
	for _, fact := range p.Facts {
		l.prose("", 0, l.say(fact))
	}
	l.rows(p.Runs[0], 0, p.Known)
	l.prose("", 0, l.color.Paint(term.Bold, l.say(p.Ask)))
}

// ask prints the answers, and plays the one that is chosen. It returns whether that is right.
func (l *learner) ask(p *lesson.Played) bool {
	how := l.say(chooseOne, "n", len(p.Answers))
	if len(p.Moves) > 0 {
		how = l.say(orderMove)
		for i, move := range p.Moves {
			fmt.Fprintf(l.out, "  %d  %s\n", i+1, l.say(move))
		}
	} else {
		for i, answer := range p.Answers {
			fmt.Fprintf(l.out, "  %d  %s\n", i+1, l.say(answer.Words))
		}
		fmt.Fprintf(l.out, "  0  %s\n", l.say(dontKnow))
	}
	for {
		fmt.Fprint(l.out, "> ")
		if !l.in.Scan() {
			l.over = true
			fmt.Fprintln(l.out)
			return false
		}
		typed := strings.ReplaceAll(strings.TrimSpace(l.in.Text()), " ", "")
		if l.echo {
			fmt.Fprintln(l.out, typed)
		}
		switch i := p.Find(typed); {
		case typed == "q":
			l.over = true
			return false
		case typed == "0":
			l.prose("", 0, l.say(tryThem))
		case i < 0:
			fmt.Fprintln(l.out, how)
		default:
			l.rows(p.Runs[i], p.Known, len(p.Runs[i].Trace.Events))
			l.prose("", 0, l.say(p.Answers[i].Then))
			fmt.Fprintln(l.out)
			return p.Right[i]
		}
	}
}

// rows prints the rows of a run that are about events from one to another.
func (l *learner) rows(r *lesson.Run, from, to int) {
	var some []timeline.Row
	for _, row := range timeline.NewStory(r.Trace, r.Found, l.lang).Rows() {
		if row.Last >= from && row.Last < to && (row.First >= 0 || from > 0) {
			some = append(some, row)
		}
	}
	for _, lines := range timeline.Beats(some, timeline.Options{Color: l.color, Width: l.width}) {
		fmt.Fprintln(l.out, strings.Join(lines, "\n"))
	}
}
