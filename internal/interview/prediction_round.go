package interview

import (
	"context"
	"fmt"
	"math/rand/v2"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

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
