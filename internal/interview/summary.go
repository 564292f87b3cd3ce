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
	tableHead   = []i18n.Text{i18n.New("theme"), i18n.New("said"), i18n.New("half"), i18n.New("not")}
	predicted   = i18n.New("Predictions: {right} of {n} right")
	readAgain   = i18n.New("Read again:")
	foretold    = i18n.New("Prediction on stage {stage}: {question}")
	unmarked    = i18n.New("{question} (not marked)")
	allSaid     = i18n.New("Nothing to read again: you said it all.")
	whatYouSaid = i18n.New("What you typed, and the model answer:")
	youAndModel = i18n.New("**{question}**\n\n**You:** {typed}\n\n**Model:** {answer}")
	sameAgain   = i18n.New("The same interview again:")
)

// summarise says what was right, what to read again, and how to hold the same
// interview once more.
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

// marks are how often the candidate has said it, by theme, and the predictions.
func (s *Session) marks() {
	counts := map[string]*[3]int{}
	var themes []string
	for _, q := range s.questions {
		if q.mark != "" && counts[q.Theme] == nil {
			themes, counts[q.Theme] = append(themes, q.Theme), &[3]int{}
		}
		if q.mark != "" {
			counts[q.Theme][strings.Index(keySaid+keyHalf+keyNot, q.mark)]++
		}
	}
	right, marked := 0, 0
	for _, p := range s.predicted {
		if p.marked {
			marked++
		}
		if p.right {
			right++
		}
	}
	if len(themes) > 0 {
		s.table(themes, counts)
	}
	if marked > 0 {
		s.say(predicted, "right", right, "n", marked)
	} else if len(themes) == 0 {
		s.say(nothing)
	}
}

func (s *Session) table(themes []string, counts map[string]*[3]int) {
	head := i18n.Each(s.Language, tableHead...)
	wide := 0
	for _, name := range append(slices.Clone(themes), head[0]) {
		wide = max(wide, term.Columns(name))
	}
	s.print(term.Pad(head[0], wide) + "  " + strings.Join(head[1:], "  ") + "\n")
	for _, theme := range themes {
		line := term.Pad(theme, wide)
		for i, n := range counts[theme] {
			line += fmt.Sprintf("%*d", 2+term.Columns(head[i+1]), n)
		}
		s.print(line + "\n")
	}
}

// readAgain names the questions that were not fully said, where they stand, and the
// commands that prove their answers; and the schedules that were foretold wrongly.
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
			entry(foretold.Localize(s.Language, "stage", p.Stage.ID, "question", p.Question(s.Language)), p.replay())
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

// compare puts what was typed beside the model answers.
func (s *Session) compare() {
	begun := false
	for _, q := range s.questions {
		if q.typed == "" {
			continue
		}
		if !begun {
			s.sayApart(whatYouSaid)
			begun = true
		}
		s.sayApart(youAndModel, "question", q.Title, "typed", q.typed, "answer", q.Parts[Spoken])
	}
}
