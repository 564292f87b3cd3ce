package interview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
)

var (
	summary     = i18n.New("Summary")
	roundCount  = i18n.NewPlural("{n} round", "{n} rounds")
	tookTime    = i18n.New("{rounds}, in about {time}.")
	tookNoTime  = i18n.New("{rounds}, in less than a minute.")
	nothing     = i18n.New("Nothing was marked.")
	themeHead   = i18n.New("theme")
	predicted   = i18n.New("Predictions: {right} of {n} right")
	followedUp  = i18n.New("Follow-ups: {had} of {n} answered")
	readAgain   = i18n.New("Read again:")
	foretold    = i18n.New("Prediction: {question}")
	notMarked   = i18n.New("{question} (not marked)")
	notSaid     = i18n.New("not said: {point}")
	allSaid     = i18n.New("Nothing to read again: you knew it all.")
	whatYouSaid = i18n.New("What you typed, and the model answer:")
	youAndModel = i18n.New("**{question}**\n\n**You:** {typed}\n\n**Model:** {answer}")
	sameAgain   = i18n.New("The same interview again:")
)

// summarise prints the results, what to read again, and the command for the same interview.
func (s *Session) summarise() {
	s.print("\n")
	s.heading(summary)
	s.print("\n")
	if took := s.Now().Sub(s.begun); took >= time.Minute {
		s.say(tookTime, "rounds", roundCount.Of(s.rounds), "time", minutesOf(took))
	} else {
		s.say(tookNoTime, "rounds", roundCount.Of(s.rounds))
	}
	s.print("\n")
	s.results()
	s.readAgain()
	s.compare()
	if s.Again != "" {
		s.print("\n" + sameAgain.Localize(s.Language) + "\n  " + s.Again + "\n")
	}
}

// results prints the candidate's marks by theme, the predictions and the follow-ups.
func (s *Session) results() {
	counts := map[string]map[i18n.Text]int{} // by theme and mark
	head, first := i18n.Each(s.Language, marks...), themeHead.Localize(s.Language)
	themes, wide := []string{}, term.Columns(first)
	followed, had, right := 0, 0, 0
	for _, q := range s.questions {
		followed, had = followed+q.followed, had+q.had
		if q.mark == "" {
			continue
		}
		if counts[q.Theme] == nil {
			counts[q.Theme] = map[i18n.Text]int{}
			themes, wide = append(themes, q.Theme), max(wide, term.Columns(q.Theme))
		}
		counts[q.Theme][q.mark]++
	}
	for i, theme := range themes {
		if i == 0 {
			s.print(term.Pad(first, wide) + "  " + strings.Join(head, "  ") + "\n")
		}
		line := term.Pad(theme, wide)
		for i, mark := range marks {
			line += fmt.Sprintf("%*d", 2+term.Columns(head[i]), counts[theme][mark])
		}
		s.print(line + "\n")
	}
	for _, p := range s.predicted {
		if p.right {
			right++
		}
	}
	if len(s.predicted) > 0 {
		s.say(predicted, "right", right, "n", len(s.predicted))
	} else if len(themes) == 0 {
		s.say(nothing)
	}
	if followed > 0 {
		s.say(followedUp, "had", had, "n", followed)
	}
}

// readAgain lists the questions that were not fully answered, with what was not said, their place
// and the command that proves the answer, and the schedules that were predicted wrongly.
func (s *Session) readAgain() {
	text := ""
	entry := func(title string, missing []string, below ...string) {
		text += s.page.set("- " + title)
		for _, point := range missing {
			text += s.page.set("  - " + notSaid.Localize(s.Language, "point", point))
		}
		for _, line := range below {
			text += "  " + line + "\n"
		}
	}
	for _, q := range s.questions {
		title, below := q.Title, []string{q.Place}
		if q.mark == "" {
			title = notMarked.Localize(s.Language, "question", title)
		}
		if q.Command != "" {
			below = append(below, q.Command)
		}
		if q.mark != known {
			entry(title, q.notSaid, below...)
		}
	}
	for _, p := range s.predicted {
		if !p.right {
			entry(foretold.Localize(s.Language, "question", lesson.Chapters[p.chapter].Parts[p.part].Ask), nil, p.command())
		}
	}
	s.print("\n")
	switch {
	case text != "":
		s.say(readAgain)
		s.print(text)
	case len(s.questions)+len(s.predicted) > 0:
		s.say(allSaid)
	}
}

// compare prints the typed answers next to the model answers.
func (s *Session) compare() {
	typed := slices.DeleteFunc(slices.Clone(s.questions), func(q *asked) bool { return q.typed == "" })
	for i, q := range typed {
		if i == 0 {
			s.sayApart(whatYouSaid)
		}
		s.sayApart(youAndModel, "question", q.Title, "typed", q.typed, "answer", q.Parts[Spoken])
	}
}

// Fully returns the ids of the marked questions, and whether all key points were said.
func (s *Session) Fully() map[string]bool {
	fully := map[string]bool{}
	for _, q := range s.questions {
		if q.mark != "" {
			fully[q.ID] = q.mark == known
		}
	}
	return fully
}
