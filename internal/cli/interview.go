package cli

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/term/keyboard"
)

// appointment is the arguments of interview.
type appointment struct {
	theme, level  string
	minutes       int
	seed          uint64
	must, project bool
	missed        bool
}

const mostMinutes = 240

// opener is the first question with --project.
const opener = "operating-project"

func (a *app) interviewCommand() *cobra.Command {
	var x appointment
	cmd := &cobra.Command{
		Use:   "interview",
		Short: "A mock interview: questions, predictions, and what to read again",
		Long: "interview asks the questions of docs/interview: as many as fit the minutes, the must-knows first. " +
			"After each it shows the answer of 30 seconds, lets you tick the key points that you said, and " +
			"asks the follow-ups. Every third round is a question of the lesson, whose answer is played. At " +
			"the end it lists what to read again. Each line of the input is one answer, so it can be piped; q " +
			"ends it.",
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inRange(cmd, "minutes", 1, mostMinutes); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				x.seed = rand.Uint64N(10_000)
			}
			m := interview.LoadMemory(a.configDir, "missed.json")
			switch {
			case x.missed && m.Err != nil:
				return failedError{m.Err}
			case x.missed && len(m.IDs) == 0:
				fmt.Fprintln(a.out, a.say(noMissed))
				return nil
			}
			s, err := a.session(x, m.IDs)
			if err != nil {
				return err
			}
			s.Lines = keyboard.ReadLines(cmd.InOrStdin(), a.out)
			defer s.Lines.Close()
			if !x.missed {
				a.recall(m)
			}
			err = s.Hold(cmd.Context())
			if m.Err == nil {
				a.remember(s.Fully())
			}
			if err != nil {
				return failedError{err}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&x.must, "must", false, "only the questions that every candidate should know")
	f.BoolVar(&x.missed, "missed", false, "only the questions that you missed or half knew in earlier interviews, and no predictions")
	f.StringVar(&x.level, "level", "", "only what a candidate of this `level` is asked: junior, senior or staff; each is asked the easier ones too")
	f.StringVar(&x.theme, "theme", "", "only the questions of this theme, a page of docs/interview, as lease; predictions are of the whole lesson")
	f.BoolVar(&x.project, "project", false, "begin with \"Tell me about a lock in your project\"")
	f.IntVar(&x.minutes, "minutes", 20, "how long it lasts, in `minutes`: no round begins later")
	f.Uint64Var(&x.seed, "seed", 0, "the same seed, the same interview; without it, another one each time")
	return cmd
}

var (
	badTheme = i18n.New("--theme: {error}")
	badLevel = i18n.New("--level {level}: {error}")
	noneFits = i18n.New("no question fits {flags}: leave one of them out")
	noMissed = i18n.New("Nothing was missed yet.")

	remembered = i18n.NewPlural("{n} question that you missed or half knew is remembered: `go run . interview --missed` asks only that one.",
		"{n} questions that you missed or half knew are remembered: `go run . interview --missed` asks only those.")
	askMissed     = i18n.New("What you missed or half knew is remembered: `go run . interview --missed` asks only that.")
	notRemembered = i18n.New("What you miss is not remembered: {error}")
)

// session returns the interview for the arguments.
func (a *app) session(x appointment, missed []string) (*interview.Session, error) {
	themes, err := interview.Parse(a.sources, a.lang)
	if err != nil {
		return nil, failedError{err}
	}
	flags := ""
	if x.theme != "" {
		theme, err := interview.FindTheme(x.theme, themes)
		if err != nil {
			return nil, badTheme.Args("error", err)
		}
		themes = []interview.Theme{theme}
		flags += " --theme " + theme.ID
	}
	highest := interview.Staff
	if x.level != "" {
		if highest, err = interview.FindLevel(x.level); err != nil {
			return nil, badLevel.Args("level", x.level, "error", err)
		}
		flags += " --level " + highest.Localize(i18n.English)
	}
	if x.must {
		flags += " --must"
	}
	if x.missed {
		flags += " --missed"
	}
	themes = interview.Filter(themes, func(q interview.Question) bool {
		fits := q.Level <= highest && (!x.must || q.Rank == interview.Must) && (!x.missed || slices.Contains(missed, q.ID))
		return fits || x.project && q.ID == opener
	})
	if len(themes) == 0 {
		return nil, noneFits.Args("flags", strings.TrimSpace(flags))
	}
	first := ""
	if x.project {
		first = opener
		flags += " --project"
	}
	again := fmt.Sprintf("go run . interview --lang %s --minutes %d --seed %d", a.lang, x.minutes, x.seed) + flags
	if x.missed { // another time, others are missed
		again = ""
	}
	return &interview.Session{
		T: a.t, Sources: a.sources, Language: a.lang, Themes: themes, Seed: x.seed, Length: time.Duration(x.minutes) * time.Minute, First: first,
		AskOnly: x.missed, Again: again,
		Now: time.Now, Color: a.color, Width: a.width, Out: a.out, InProcess: a.inProcess,
	}, nil
}

// inProcess runs a command of this program with keys as its input.
func (a *app) inProcess(args []string, keys string, out io.Writer) int {
	inner := *a
	inner.in, inner.out, inner.err = strings.NewReader(keys), out, out
	inner.binary, inner.terminal = "", false // it does not start itself again, and shows no progress
	return inner.run(append(slices.Clip(args), "--lang", string(a.lang)))
}

// recall prints what an interview finds in the memory.
func (a *app) recall(m interview.Memory) {
	if m.Err != nil {
		fmt.Fprintln(a.out, a.say(notRemembered, "error", m.Err)+"\n")
	} else if n := len(m.IDs); n > 0 {
		fmt.Fprintln(a.out, remembered.Of(n).Localize(a.lang)+"\n")
	}
}

// remember keeps the results of an interview.
func (a *app) remember(fully map[string]bool) {
	if a.configDir == nil || len(fully) == 0 {
		return
	}
	m := interview.LoadMemory(a.configDir, "missed.json") // again: another interview may have ended meanwhile
	if m.Err == nil {
		m.Err = m.Update(fully)
	}
	if m.Err != nil {
		fmt.Fprintln(a.out, "\n"+a.say(notRemembered, "error", m.Err))
	} else if slices.Contains(slices.Collect(maps.Values(fully)), false) {
		fmt.Fprintln(a.out, "\n"+a.say(askMissed))
	}
}
