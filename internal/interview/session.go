package interview

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/internal/term"
)

// Session is an interview.
type Session struct {
	T         *testing.T
	Language  *Language
	Themes    []Theme
	Seed      uint64
	Length    time.Duration
	First     string   // the id of the question to begin with; "": any
	AskOnly   bool     // no predictions
	Known     []string // schedules that are no surprise; see [Finder]
	Again     string   // the command that holds the same interview
	Now       func() time.Time
	Color     term.Color
	Width     int
	Echo      bool // print what was typed: a terminal does it itself
	In        io.Reader
	Out       io.Writer
	InProcess func(args []string, keys string, out io.Writer) int // runs a command of this program

	words     *words
	page      page
	typed     <-chan string // the lines of the candidate
	begun     time.Time
	questions []*asked
	predicted []foreseen
	rounds    int
}

// everyThird round is a prediction.
const everyThird = 3

// widest is how wide prose is set.
const widest = 100

// Hold holds the interview: rounds until the time is over, or the questions, or the
// input, or the context; then the summary.
func (s *Session) Hold(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.words = &s.Language.words
	s.page = page{min(s.Width, widest), s.Color, s.words}
	s.typed = listen(ctx, s.In)
	s.begun = s.Now()
	s.welcome()
	err := s.hold(ctx)
	s.summarise() // also where the world has failed: the marks are the candidate's
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// hold holds the rounds.
func (s *Session) hold(ctx context.Context) error {
	finder := &Finder{T: s.T, Seed: s.Seed, Known: slices.Clone(s.Known)}
	questions := beginWith(Order(s.Themes, s.Seed), s.First)
	for goOn := true; goOn && ctx.Err() == nil; {
		switch {
		case s.left() <= 0:
			s.prose("\n" + s.words.TimeIsOver)
			return nil
		case len(questions) == 0:
			s.prose("\n" + s.words.AllAsked)
			return nil
		}
		if s.rounds++; s.rounds%everyThird > 0 || s.AskOnly {
			goOn = s.question(ctx, questions[0])
			questions = questions[1:]
			continue
		}
		p, err := finder.Find(s.rounds / everyThird)
		if err != nil {
			return err
		}
		finder.Known = append(finder.Known, p.Text()) // nobody is asked about it twice
		if goOn, err = s.predict(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) left() time.Duration { return s.Length - s.Now().Sub(s.begun) }

// minutes is a duration in words, rounded up.
func (s *Session) minutes(d time.Duration) string {
	return plural(int((d+time.Minute-1)/time.Minute), s.words.Minute)
}

func (s *Session) welcome() {
	n := 0
	for _, t := range s.Themes {
		n += len(t.Questions)
	}
	s.heading(fmt.Sprintf(s.words.Welcome, s.minutes(s.Length), plural(n, s.words.Questions), plural(len(s.Themes), s.words.Themes)))
	s.print(s.words.Switch + "\n")
	for _, text := range s.words.HowItGoes {
		s.prose("\n" + text)
	}
	if !s.AskOnly {
		s.prose("\n" + s.words.Predicting)
	}
}

func (s *Session) print(text string) { fmt.Fprint(s.Out, text) }

// prose prints Markdown, wrapped.
func (s *Session) prose(text string) { s.print(s.page.set(text)) }

func (s *Session) heading(text string) { s.print(s.Color.Paint(term.Bold, text) + "\n") }

func (s *Session) round(theme string) {
	s.print("\n")
	s.heading(fmt.Sprintf(s.words.Round, s.rounds, theme, s.minutes(s.left())))
}

// keyEnd ends the interview wherever something is typed.
const keyEnd = "q"

// read reads one line of the candidate; false when the interview is to end.
func (s *Session) read(ctx context.Context) (line string, ok bool) {
	s.print("> ")
	if ctx.Err() == nil {
		select {
		case line, ok = <-s.typed:
		case <-ctx.Done():
		}
	}
	switch {
	case !ok:
		s.print("\n")
	case s.Echo:
		s.print(line + "\n")
	}
	return line, ok && !strings.EqualFold(line, keyEnd)
}

// listen reads lines. It reads in a goroutine of its own, because nothing else can
// leave a read from a terminal when Ctrl-C comes; the goroutine ends with the input, or
// with the first line after ctx.
func listen(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		from := bufio.NewReader(in)
		for err := error(nil); err == nil; {
			var line string
			if line, err = from.ReadString('\n'); line == "" {
				continue
			}
			select {
			case lines <- strings.TrimSpace(line):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
