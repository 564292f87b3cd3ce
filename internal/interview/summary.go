package interview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

var (
	summary     = i18n.New("Summary")
	roundCount  = i18n.NewPlural("{n} round", "{n} rounds")
	tookTime    = i18n.New("{rounds}, in about {time}.")
	tookNoTime  = i18n.New("{rounds}, in less than a minute.")
	nothing     = i18n.New("Nothing was marked.")
	tableHead   = []i18n.Text{i18n.New("theme"), i18n.New("knew"), i18n.New("half"), i18n.New("not")}
	predicted   = i18n.New("Predictions: {right} of {n} right")
	readAgain   = i18n.New("Read again:")
	foretold    = i18n.New("Prediction on stage {stage}: {question}")
	unmarked    = i18n.New("{question} (not marked)")
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
	s.marks()
	s.readAgain()
	s.compare()
	s.print("\n" + sameAgain.Localize(s.Language) + "\n  " + s.Again + "\n")
}

// marks prints the candidate's marks by theme, and the predictions.
func (s *Session) marks() {
	head := i18n.Each(s.Language, tableHead...)
	counts := map[string]map[string]int{} // by theme and mark
	themes, wide := []string{}, term.Columns(head[0])
	for _, q := range s.questions {
		if q.mark == "" {
			continue
		}
		if counts[q.Theme] == nil {
			counts[q.Theme] = map[string]int{}
			themes, wide = append(themes, q.Theme), max(wide, term.Columns(q.Theme))
		}
		counts[q.Theme][q.mark]++
	}
	for i, theme := range themes {
		if i == 0 {
			s.print(term.Pad(head[0], wide) + "  " + strings.Join(head[1:], "  ") + "\n")
		}
		line := term.Pad(theme, wide)
		for i, mark := range []string{keySaid, keyHalf, keyNot} {
			line += fmt.Sprintf("%*d", 2+term.Columns(head[i+1]), counts[theme][mark])
		}
		s.print(line + "\n")
	}
	right := 0
	for _, p := range s.predicted {
		if p.right {
			right++
		}
	}
	switch {
	case len(s.predicted) > 0:
		s.say(predicted, "right", right, "n", len(s.predicted))
	case len(themes) == 0:
		s.say(nothing)
	}
}

// readAgain lists the questions that were not fully answered, with their place and the command that
// proves the answer, and the schedules that were predicted wrongly.
func (s *Session) readAgain() {
	text := ""
	entry := func(title string, below ...string) {
		text += s.page.set("- " + title)
		for _, line := range below {
			text += "  " + line + "\n"
		}
	}
	for _, q := range s.questions {
		title, below := q.Title, []string{Document(s.Language) + "#" + q.ID, q.Command}
		if q.mark == "" {
			title = unmarked.Localize(s.Language, "question", title)
		}
		if q.mark != keySaid {
			entry(title, slices.DeleteFunc(below, func(line string) bool { return line == "" })...)
		}
	}
	for _, p := range s.predicted {
		if !p.right {
			entry(foretold.Localize(s.Language, "stage", p.Stage.ID, "question", p.Question), "go run . replay '"+p.Text()+"'")
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
