package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockkata/internal/interview"
)

// appointment is what interview was asked for.
type appointment struct {
	theme, language string
	minutes         string
	seed            uint64
}

const (
	usualMinutes = 20
	mostMinutes  = 240
)

func (a *app) interviewCommand() *cobra.Command {
	var x appointment
	cmd := &cobra.Command{
		Use:   "interview",
		Short: "A mock interview: questions, predictions, and what to read again",
		Long: "interview asks the questions of docs/interview.md, and shows after each the answer, the drawing,\n" +
			"the follow-ups and the proof. About every third round is a prediction: a stage under a schedule\n" +
			"that no document shows, up to a point, and the question what happens next. In the end it says\n" +
			"what to read again. Each line of the input is one answer, so it can be piped.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				x.seed = rand.Uint64N(10_000)
			}
			s, err := a.session(x)
			if err != nil {
				return err
			}
			_, typed := asTerminal(cmd.InOrStdin())
			s.In, s.Echo = cmd.InOrStdin(), !typed
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if err := s.Hold(ctx); err != nil {
				return failedError{err.Error()}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.theme, "theme", "", "only the questions of this theme of docs/interview.md, as lease; predictions are of all stages")
	f.StringVar(&x.minutes, "minutes", strconv.Itoa(usualMinutes), "how long it lasts, in `minutes`: no round begins later")
	f.Uint64Var(&x.seed, "seed", 0, "the same seed, the same interview; without it, another one each time")
	f.StringVar(&x.language, "language", interview.Languages[0].Name, "the language: en or zh-CN")
	return cmd
}

// session makes an interview of what was asked for.
func (a *app) session(x appointment) (*interview.Session, error) {
	minutes, err := strconv.Atoi(x.minutes)
	if err != nil || minutes < 1 || minutes > mostMinutes {
		return nil, fmt.Errorf("--minutes %s: give a whole number of minutes, from 1 to %d", x.minutes, mostMinutes)
	}
	language, err := interview.FindLanguage(x.language)
	if err != nil {
		return nil, fmt.Errorf("--language: %w", err)
	}
	document := "docs/" + language.Document
	text, err := fs.ReadFile(a.sources, document)
	if err != nil {
		return nil, failedError{err.Error()}
	}
	themes, err := interview.Parse(document, string(text), language.Labels)
	if err != nil {
		return nil, failedError{err.Error()}
	}
	again := fmt.Sprintf("go run . interview --minutes %d --seed %d", minutes, x.seed)
	if x.theme != "" {
		if themes, err = interview.Restrict(themes, x.theme); err != nil {
			return nil, fmt.Errorf("--theme: %w", err)
		}
		again += " --theme " + themes[0].Short()
	}
	if language != interview.Languages[0] {
		again += " --language " + language.Name
	}
	return &interview.Session{
		T: a.t, Language: language, Themes: themes, Seed: x.seed, Length: time.Duration(minutes) * time.Minute,
		Known: a.knownSchedules(), Again: again, Now: time.Now, Color: a.color, Width: a.width, Out: a.out,
		InProcess: a.inProcess,
	}, nil
}

// inProcess runs a command of this program, whose input is keys.
func (a *app) inProcess(args []string, keys string, out io.Writer) int {
	inner := *a
	inner.in, inner.out, inner.err = strings.NewReader(keys), out, out
	inner.binary, inner.terminal = "", false // it is not to start others, nor to tell how far it is
	return inner.run(args)
}

var scheduleText = regexp.MustCompile(`v1/stage[0-9]+(?:/[0-9a-z-]+){4}/[0-9A-Za-z.]+`)

// knownSchedules are those that a reader has seen: in a document, or as a challenge.
func (a *app) knownSchedules() []string {
	var known []string
	for _, c := range challenges {
		known = append(known, c.way)
	}
	for _, pattern := range []string{"*.md", "stage*/*.md", "docs/*.md", "docs/zh-CN/*.md"} {
		names, _ := fs.Glob(a.sources, pattern) // the pattern is a good one
		for _, name := range names {
			text, err := fs.ReadFile(a.sources, name)
			if err == nil {
				known = append(known, scheduleText.FindAllString(string(text), -1)...)
			}
		}
	}
	return known
}
