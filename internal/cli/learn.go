package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
		Short: "A lesson that asks first: ten chapters, 40 minutes, a run for each answer",
		Long: "learn asks before it shows: where must a process stop, who is inside then? Each answer is played, " +
			"also a wrong one. Without a chapter it goes on where you were. Each line of the input is one answer, so " +
			"it can be piped; 0 is \"I don't know\", q ends it.",
		Example: "go run . learn",
		Args:    words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, typed := keyboard.Terminal(cmd.InOrStdin())
			l := &learner{app: a, in: bufio.NewScanner(cmd.InOrStdin()), echo: !typed, learned: interview.LoadMemory(a.configDir, lessonFile)}
			at := 0
			if len(args) > 0 {
				var err error
				if at, err = strconv.Atoi(args[0]); err != nil || at < 0 || at >= len(lesson.Chapters) {
					return noChapter.Args("name", strconv.Quote(args[0]), "last", len(lesson.Chapters)-1)
				}
			} else {
				asked, err := l.askAgain()
				if err != nil {
					return err
				}
				for at < len(lesson.Chapters) && slices.Contains(l.learned.IDs, strconv.Itoa(at)) {
					at++
				}
				if at == len(lesson.Chapters) && !asked {
					at = 0
				}
			}
			for ; at < len(lesson.Chapters) && !l.over; at++ {
				if err := l.chapter(at); err != nil {
					return err
				}
			}
			if !l.over {
				l.end()
			}
			if l.learned.Err != nil {
				a.note(notKept, "error", l.learned.Err)
			}
			return nil
		},
	}
}

const lessonFile = "lesson.json"

var (
	notKept   = i18n.New("Where you are is not remembered: {error}")
	noChapter = i18n.New("there is no chapter {name}; there are 0 to {last}")
	chapterOf = i18n.New("{n} of {all} · {title}")
	dontKnow  = i18n.New("I don’t know")
	tryThem   = i18n.New("Then try them, ten seconds each. The question comes again on another day.")
	notYet    = i18n.New("Not yet. Choose another answer.")
	chooseOne = i18n.New("Answer with a number from 0 to {n}, or q.")
	orderMove = i18n.New("Answer with the numbers of all moves in a possible order, as {example}, or q.")
	remember  = i18n.New("Remember: {what}")
	sayIt     = i18n.New("Say it in an interview: {where}")
	mustKnow  = i18n.New("docs/interview/must.md")
	playedToo = i18n.New("{n} is played:")
	allDone   = i18n.New("That was the last chapter. To begin again: go run . learn 0")
	restDone  = i18n.NewPlural("{n} question that you missed is asked again on another day.", "{n} questions that you missed are asked again on another day.")
	onceMore  = i18n.NewPlural("{n} question that you missed the last time", "{n} questions that you missed the last time")
)

// learner is a lesson in a terminal.
type learner struct {
	*app
	in     *bufio.Scanner
	echo   bool // the input is not typed in a terminal
	over   bool
	gaveUp bool // the question was answered with "I don't know"
	// learned has the chapters that are done, as "3", and the questions that were missed, with the day, as
	// "3/1 2026-11-26".
	learned interview.Memory
}

// update removes or adds ids of l.learned.
func (l *learner) update(remove map[string]bool) {
	if l.learned.Err == nil {
		l.learned = interview.LoadMemory(l.configDir, lessonFile) // again: another lesson may have gone on meanwhile
		l.learned.Err = l.learned.Update(remove)
	}
}

// askAgain asks the questions that were missed on an earlier day. It returns whether there are any.
func (l *learner) askAgain() (asked bool, err error) {
	today := time.Now().Format(time.DateOnly)
	missed := slices.DeleteFunc(slices.Clone(l.learned.IDs), func(id string) bool {
		_, day, is := strings.Cut(id, " ")
		return !is || day >= today
	})
	if len(missed) > 0 {
		fmt.Fprint(l.out, l.color.Paint(term.Bold, onceMore.Of(len(missed)).Localize(l.lang)), "\n\n")
	}
	for _, id := range missed {
		var n, q int
		if _, err := fmt.Sscanf(id, "%d/%d", &n, &q); err != nil || n >= len(lesson.Chapters) || q > len(lesson.Chapters[n].Parts) {
			l.update(map[string]bool{id: true}) // of another edition of the lesson
			continue
		}
		l.prose("", 0, l.say(lesson.Chapters[n].Lead))
		if err := l.question(n, q); err != nil || l.over {
			return true, err
		}
	}
	return len(missed) > 0, nil
}

// end prints what comes after the last chapter.
func (l *learner) end() {
	l.prose("", 0, l.say(allDone))
	if n := strings.Count(strings.Join(l.learned.IDs, ""), " "); n > 0 {
		l.prose("", 0, restDone.Of(n).Localize(l.lang))
	}
}

// chapter asks the questions of a chapter until each is answered rightly or the input ends.
func (l *learner) chapter(n int) error {
	c := lesson.Chapters[n]
	fmt.Fprintln(l.out, l.color.Paint(term.Bold, l.say(chapterOf, "n", n, "all", len(lesson.Chapters)-1, "title", c.Title)))
	l.prose("", 0, l.say(c.Lead))
	for i := range c.Parts {
		if err := l.question(n, i+1); err != nil || l.over {
			return err
		}
	}
	l.prose("", 0, l.color.Paint(term.Bold, l.say(remember, "what", c.Remember)))
	if c.Entry != "" {
		fmt.Fprintln(l.out, l.say(sayIt, "where", l.say(mustKnow)+"#"+c.Entry))
	}
	l.prose("", 0, l.say(c.Next))
	fmt.Fprintln(l.out)
	l.update(map[string]bool{strconv.Itoa(n): false})
	return nil
}

// question asks the qth question of a chapter until it is answered rightly or the input ends. Whether the first
// answer was right is remembered.
func (l *learner) question(n, q int) error {
	played, err := lesson.Chapters[n].Parts[q-1].Play(l.t, l.sources)
	if err != nil {
		return failedError{err}
	}
	l.situation(played)
	l.gaveUp = false
	for right, first := false, true; !right; first = false {
		if !first && played.Answers[0].Line != "" {
			l.code(played) // whose lines are the answers
		}
		if right = l.ask(played); l.over {
			return nil
		}
		if first {
			id := fmt.Sprintf("%d/%d ", n, q)
			missed := map[string]bool{id + time.Now().Format(time.DateOnly): right && !l.gaveUp}
			for _, old := range l.learned.IDs {
				if day, is := strings.CutPrefix(old, id); is && day < time.Now().Format(time.DateOnly) {
					missed[old] = true
				}
			}
			l.update(missed)
		}
	}
	return nil
}

// situation prints what is known before a question.
func (l *learner) situation(p *lesson.Played) {
	l.code(p)
	for _, fact := range p.Facts {
		l.prose("", 0, l.say(fact))
	}
	l.rows(p.Runs[0], 0, p.Known)
	l.prose("", 0, l.color.Paint(term.Bold, l.say(p.Ask)))
}

// code prints the lines of the code, and the file that has them.
func (l *learner) code(p *lesson.Played) {
	if p.Path != "" {
		fmt.Fprintln(l.out, l.color.Paint(term.Dim, p.Path))
	}
	for _, line := range p.Lines {
		head, text := p.Show(line, l.lang)
		if line.Place > 0 {
			head = l.color.Paint(term.Bold, head)
		}
		if line.Text == "" {
			text = l.color.Paint(term.Bold, text)
		}
		fmt.Fprintln(l.out, strings.Join(term.Beside(head, text, l.width), "\n"))
	}
}

// ask prints the answers, and plays the one that is chosen. It returns whether that is right.
func (l *learner) ask(p *lesson.Played) bool {
	how := l.say(chooseOne, "n", len(p.Answers))
	if len(p.Moves) > 0 {
		how = l.say(orderMove, "example", p.Answers[0].Order)
		for i, move := range p.Moves {
			fmt.Fprintf(l.out, "  %d  %s\n", i+1, l.say(move))
		}
		fmt.Fprintln(l.out, how)
	} else {
		for i, answer := range p.Answers {
			if answer.Words != "" {
				fmt.Fprintf(l.out, "  %d  %s\n", i+1, l.say(answer.Words))
			}
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
			l.gaveUp = true
			l.prose("", 0, l.say(tryThem))
		case i < 0:
			fmt.Fprintln(l.out, how)
		default:
			for _, j := range p.ToPlay(i) {
				if j != i {
					fmt.Fprintln(l.out, l.color.Paint(term.Bold, l.say(playedToo, "n", j+1)))
				}
				l.rows(p.Runs[j], p.Known, len(p.Runs[j].Trace.Events))
				if j != i {
					l.prose("", 0, l.say(p.Answers[j].Then))
				}
			}
			l.prose("", 0, l.say(p.Answers[i].Then))
			fmt.Fprintln(l.out)
			if !p.Right[i] {
				fmt.Fprintln(l.out, l.say(notYet))
			}
			return p.Right[i]
		}
	}
}

// rows prints the rows of a run that are about events from one to another.
func (l *learner) rows(r *lesson.Run, from, to int) {
	var some []timeline.Row
	for _, row := range timeline.NewStory(r.Trace, r.Found, l.lang).Rows() {
		if row.Last >= from && row.Last < to && (row.First >= 0 || to == len(r.Trace.Events)) {
			some = append(some, row)
		}
	}
	for _, lines := range timeline.Beats(some, timeline.Options{Color: l.color, Width: l.width}) {
		fmt.Fprintln(l.out, strings.Join(lines, "\n"))
	}
}
