package cli

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/stages"
	"lockkata/internal/term/keyboard"
)

// appointment is the arguments of interview.
type appointment struct {
	theme, level  string
	minutes       int
	seed          uint64
	must, project bool
}

const mostMinutes = 240

// opener is the first question with --project.
const opener = "operating-project"

func (a *app) interviewCommand() *cobra.Command {
	var x appointment
	cmd := &cobra.Command{
		Use:   "interview",
		Short: "A mock interview: questions, predictions, and what to read again",
		Long: "interview asks the questions of docs/interview.md, the must-knows first, from junior to staff. After" +
			" each it shows the answer, the drawing, the follow-ups and the proof. Every third round is a " +
			"prediction: you see a stage under a schedule that no document shows, up to a point, and say what " +
			"happens next. At the end it lists what to read again. Each line of the input is one answer, so it " +
			"can be piped; q ends it.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inRange(cmd, "minutes", 1, mostMinutes); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				x.seed = rand.Uint64N(10_000)
			}
			s, err := a.session(x)
			if err != nil {
				return err
			}
			_, typed := keyboard.Terminal(cmd.InOrStdin())
			s.In, s.Echo = cmd.InOrStdin(), !typed
			if err := s.Hold(cmd.Context()); err != nil {
				return failedError{err}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&x.must, "must", false, "only the questions that every candidate should know, and no predictions")
	f.StringVar(&x.level, "level", "", "only what a candidate of this `level` is asked: junior, senior or staff; each is asked the easier ones too")
	f.StringVar(&x.theme, "theme", "", "only the questions of this theme of docs/interview.md, as lease or 租约; predictions are of all stages")
	f.BoolVar(&x.project, "project", false, "begin with \"Tell me about a lock in your project\"")
	f.IntVar(&x.minutes, "minutes", 20, "how long it lasts, in `minutes`: no round begins later")
	f.Uint64Var(&x.seed, "seed", 0, "the same seed, the same interview; without it, another one each time")
	return cmd
}

var (
	badTheme = i18n.New("--theme: {error}")
	badLevel = i18n.New("--level {level}: {error}")
	noneFits = i18n.New("no question fits {flags}: leave one of them out")
)

// session returns the interview for the arguments.
func (a *app) session(x appointment) (*interview.Session, error) {
	documents := make([][]interview.Theme, len(i18n.Languages))
	for i, l := range i18n.Languages {
		text, err := fs.ReadFile(a.sources, interview.Document(l))
		if err == nil {
			documents[i], err = interview.Parse(interview.Document(l), string(text), l)
		}
		if err != nil {
			return nil, failedError{err}
		}
	}
	themes, flags := documents[slices.Index(i18n.Languages, a.lang)], ""
	if x.theme != "" {
		i, err := interview.FindTheme(x.theme, documents...)
		if err != nil {
			return nil, badTheme.Args("error", err)
		}
		themes = themes[i : i+1]
		flags += " --theme " + themes[0].Short()
	}
	highest := interview.Staff
	if x.level != "" {
		var err error
		if highest, err = interview.FindLevel(x.level); err != nil {
			return nil, badLevel.Args("level", x.level, "error", err)
		}
		flags += " --level " + highest.Localize(i18n.English)
	}
	if x.must {
		flags += " --must"
	}
	themes = interview.Filter(themes, func(q interview.Question) bool {
		return x.project && q.ID == opener || q.Level <= highest && (!x.must || q.Rank == interview.Must)
	})
	if len(themes) == 0 {
		return nil, noneFits.Args("flags", strings.TrimSpace(flags))
	}
	first := ""
	if x.project {
		first = opener
		flags += " --project"
	}
	return &interview.Session{
		T: a.t, Language: a.lang, Themes: themes, Seed: x.seed, Length: time.Duration(x.minutes) * time.Minute, First: first,
		AskOnly: x.must, Known: a.knownSchedules(), Now: time.Now, Color: a.color, Width: a.width, Out: a.out, InProcess: a.inProcess,
		Again: fmt.Sprintf("go run . interview --lang %s --minutes %d --seed %d", a.lang, x.minutes, x.seed) + flags,
	}, nil
}

// inProcess runs a command of this program with keys as its input.
func (a *app) inProcess(args []string, keys string, out io.Writer) int {
	inner := *a
	inner.in, inner.out, inner.err = strings.NewReader(keys), out, out
	inner.binary, inner.terminal = "", false // it does not start itself again, and shows no progress
	return inner.run(append(slices.Clip(args), "--lang", string(a.lang)))
}

var scheduleText = regexp.MustCompile(`v1/stage[0-9.]+(?:/[0-9a-z-]+){4}/[0-9A-Za-z.]+`)

// knownSchedules returns schedules that a reader may have seen, in a document or as a challenge.
func (a *app) knownSchedules() (known []string) {
	for _, c := range stages.Public() {
		known = append(known, c.Challenge)
	}
	for _, pattern := range []string{"*.md", "stage*/*.md", "docs/*.md", "docs/zh-CN/*.md"} {
		names, _ := fs.Glob(a.sources, pattern) // the pattern is valid
		for _, name := range names {
			text, _ := fs.ReadFile(a.sources, name) // an unreadable file has no schedules
			known = append(known, scheduleText.FindAllString(string(text), -1)...)
		}
	}
	return known
}
