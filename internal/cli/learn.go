package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

func (a *app) learnCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "learn [CHAPTER]",
		Short: "A lesson that asks first: chapters 0 to 9, 40 minutes, a run for each answer",
		Long: "learn asks before it shows: where must a process stop, who is inside then? Each answer is played, " +
			"also a wrong one. Without a chapter it goes on where you were. Each line of the input is one answer, so " +
			"it can be piped; 0 is \"I don't know\", q ends it.",
		Example: "go run . learn",
		Args:    words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lines := keyboard.ReadLines(cmd.InOrStdin(), a.out)
			defer lines.Close()
			l := &learner{app: a, learned: interview.LoadMemory(a.configDir, lessonFile), asker: &lesson.Asker{
				Out: a.out, Color: a.color, Width: a.width, Prose: widestProse, Language: a.lang,
				Line: func() (string, bool) { return lines.Next(cmd.Context()) },
			}}
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
	chapterOf = i18n.New("Chapter {n} (0–{last})")
	remember  = i18n.New("Remember: {what}")
	sayIt     = i18n.New("Say it in an interview: {where}")
	mustKnow  = i18n.New("docs/interview/must.md")
	allDone   = i18n.New("That was the last chapter. To begin again: go run . learn 0")
	restDone  = i18n.NewPlural("{n} question that you missed is asked again on another day.", "{n} questions that you missed are asked again on another day.")
	onceMore  = i18n.NewPlural("{n} question that you missed the last time", "{n} questions that you missed the last time")
)

// learner is a lesson in a terminal.
type learner struct {
	*app
	asker *lesson.Asker
	over  bool
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
	fmt.Fprintln(l.out, l.color.Paint(term.Bold, l.say(chapterOf, "n", n, "last", len(lesson.Chapters)-1)+" · "+l.say(c.Title)))
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
	played.Hint = lesson.Chapters[n].Remember
	reply, ok := l.asker.Ask(played)
	l.over = !ok
	if reply != lesson.None {
		id, today := fmt.Sprintf("%d/%d ", n, q), time.Now().Format(time.DateOnly)
		missed := map[string]bool{id + today: reply == lesson.Right}
		for _, old := range l.learned.IDs {
			if day, is := strings.CutPrefix(old, id); is && day < today {
				missed[old] = true
			}
		}
		l.update(missed)
	}
	return nil
}
