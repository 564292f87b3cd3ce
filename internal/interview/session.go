// Package interview is a mock interview in a terminal. It asks the questions of docs/interview,
// spread over the themes, and between them questions of the lesson. At the end it lists what to read again.
package interview

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// Session is an interview.
type Session struct {
	T         *testing.T
	Sources   fs.FS // the stages' files
	Language  i18n.Language
	Themes    []Theme
	Seed      uint64
	Length    time.Duration
	First     string // the id of the question to begin with; "": any
	AskOnly   bool   // no predictions: what was missed is asked again
	Again     string // the command for the same interview, if there can be one
	Now       func() time.Time
	Color     term.Color
	Width     int
	Lines     *keyboard.Lines // of the candidate
	Out       io.Writer
	InProcess func(args []string, keys string, out io.Writer) int // runs a command of this program

	page      page
	begun     time.Time
	questions []*asked
	predicted []foreseen
	rounds    int
}

var (
	welcome       = i18n.New("A mock interview: {time}, {questions} in {themes}")
	otherLanguage = i18n.New("中文：go run . interview --lang zh")
	howItGoes     = []i18n.Text{
		i18n.New("You get a question. Say your answer aloud, as you would in the room, or type it. Press Enter when you have finished. " +
			"Then compare it with the model answer, which takes 30 seconds to say, and tick the key points that you said. " +
			"After that the interviewer has follow-ups, if you want them."),
		i18n.New("At two minutes a round, {rounds} fit. The must-knows come first, of all levels, and they become harder. " +
			"If you are faster, more questions follow."),
		i18n.New("An answer is one line: type it, then press Enter. When the time is up, no new round begins. q ends " +
			"the interview at once, and so does Ctrl-C. At the end you see what to read again, and your typed " +
			"answers next to the model answers."),
	}
	howPredictionsGo = i18n.New("Every third round is a prediction, a question of the lesson about a run of a real lock. Your answer is played, and the run decides. The first answer counts.")
	round            = i18n.New("Round {n}: {about} ({time} left)")
	minuteCount      = i18n.NewPlural("{n} minute", "{n} minutes")
	questionCount    = i18n.NewPlural("{n} question", "{n} questions")
	themeCount       = i18n.NewPlural("{n} theme", "{n} themes")
	timeIsOver       = i18n.New("The time is up.")
	allAsked         = i18n.New("All questions were asked.")
)

const (
	everyThird = 3 // every third round is a prediction
	roundTakes = 2 * time.Minute
)

// widest is the width of prose, at most.
const widest = 100

// Hold runs rounds until the time, the questions or the input end, or the context, whose error it
// returns. Then it prints the summary.
func (s *Session) Hold(ctx context.Context) error {
	s.page = page{min(s.Width, widest), s.Color, s.Language}
	s.begun = s.Now()
	s.welcome()
	err := s.hold(ctx)
	s.summarise() // also after an error of a run: the marks are the candidate's
	return cmp.Or(ctx.Err(), err)
}

// hold runs the rounds.
func (s *Session) hold(ctx context.Context) error {
	toPredict := predictions(s.Seed)
	fit := s.fit()
	if !s.AskOnly {
		fit -= fit / everyThird
	}
	questions := Order(s.Themes, s.Seed, s.First, fit)
	for goOn := true; goOn && ctx.Err() == nil; {
		switch {
		case s.left() <= 0:
			s.sayApart(timeIsOver)
			return nil
		case len(questions) == 0:
			s.sayApart(allAsked)
			return nil
		}
		if s.rounds++; s.rounds%everyThird > 0 || s.AskOnly {
			goOn = s.question(ctx, questions[0])
			questions = questions[1:]
			continue
		}
		var err error
		if goOn, err = s.predict(ctx, toPredict[s.rounds/everyThird%len(toPredict)]); err != nil {
			return err
		}
	}
	return nil
}

// fit returns how many rounds fit the time.
func (s *Session) fit() int { return int((s.Length + roundTakes - 1) / roundTakes) }

func (s *Session) left() time.Duration { return s.Length - s.Now().Sub(s.begun) }

// minutesOf returns a duration in words, rounded up.
func minutesOf(d time.Duration) i18n.Message {
	return minuteCount.Of(int((d + time.Minute - 1) / time.Minute))
}

func (s *Session) welcome() {
	s.heading(welcome, "time", minutesOf(s.Length), "questions", questionCount.Of(len(Order(s.Themes, s.Seed, "", 0))), "themes", themeCount.Of(len(s.Themes)))
	s.print(otherLanguage.Localize(s.Language) + "\n")
	for _, text := range howItGoes {
		s.sayApart(text, "rounds", roundCount.Of(s.fit()))
	}
	if !s.AskOnly {
		s.sayApart(howPredictionsGo)
	}
}

func (s *Session) print(text string) { fmt.Fprint(s.Out, text) }

// prose prints Markdown, wrapped.
func (s *Session) prose(text string) { s.print(s.page.set(text)) }

// say prints a text, wrapped, and sayApart does after an empty line.
func (s *Session) say(t i18n.Text, pairs ...any) { s.prose(t.Localize(s.Language, pairs...)) }

func (s *Session) sayApart(t i18n.Text, pairs ...any) {
	s.prose("\n" + t.Localize(s.Language, pairs...))
}

func (s *Session) heading(t i18n.Text, pairs ...any) {
	s.print(s.Color.Paint(term.Bold, t.Localize(s.Language, pairs...)) + "\n")
}

func (s *Session) round(about any) {
	s.print("\n")
	s.heading(round, "n", s.rounds, "about", about, "time", minutesOf(s.left()))
}

var (
	prediction = i18n.New("prediction")
	moreIn     = i18n.New("More: {place}")
)

// foreseen is a question of the lesson with its mark.
type foreseen struct {
	chapter, part int
	right         bool
}

// command returns the command that asks it again.
func (f foreseen) command() string { return fmt.Sprintf("go run . learn %d", f.chapter) }

// predictions returns the questions of the lesson in a random order, the same for the same seed.
func predictions(seed uint64) (all []foreseen) {
	for n, c := range lesson.Chapters {
		for i, p := range c.Parts {
			if len(p.Moves) == 0 { // one number is the answer
				all = append(all, foreseen{chapter: n, part: i})
			}
		}
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// predict asks a question of the lesson until it is answered rightly, and marks the first answer. It returns false to
// end the interview.
func (s *Session) predict(ctx context.Context, f foreseen) (goOn bool, err error) {
	s.round(prediction)
	c := lesson.Chapters[f.chapter]
	played, err := c.Parts[f.part].Play(s.T, s.Sources)
	if err != nil {
		return false, err
	}
	asker := &lesson.Asker{Out: s.Out, Color: s.Color, Width: s.Width, Prose: widest, Language: s.Language,
		Line: func() (string, bool) { return s.Lines.Next(ctx) }}
	asker.Say(c.Lead)
	reply, ok := asker.Ask(played)
	f.right = reply == lesson.Right
	s.predicted = append(s.predicted, f)
	if c.Entry != "" && ok {
		s.say(moreIn, "place", folder.Localize(s.Language)+"/must.md#"+c.Entry)
	}
	return ok, nil
}
