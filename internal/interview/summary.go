package interview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/internal/term"
)

// summarise says what was right, what to read again, and how to hold the same
// interview once more.
func (s *Session) summarise() {
	s.print("\n")
	s.heading(s.words.Summary)
	s.print("\n")
	rounds := plural(s.rounds, s.words.Rounds)
	if took := s.Now().Sub(s.begun); took >= time.Minute {
		s.prose(fmt.Sprintf(s.words.Took, rounds, s.minutes(took)))
	} else {
		s.prose(fmt.Sprintf(s.words.Instant, rounds))
	}
	s.print("\n")
	s.marks()
	s.readAgain()
	s.compare()
	s.print("\n" + s.words.Repeat + "\n  " + s.Again + "\n")
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
		s.prose(fmt.Sprintf(s.words.Predicted, right, marked))
	} else if len(themes) == 0 {
		s.prose(s.words.Nothing)
	}
}

func (s *Session) table(themes []string, counts map[string]*[3]int) {
	head := s.words.Columns
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
		title, below := q.Title, []string{"docs/" + s.Language.Document + "#" + q.ID, q.Command}
		if q.mark == "" {
			title = fmt.Sprintf(s.words.Unmarked, title)
		}
		if q.mark != keySaid {
			entry(title, slices.DeleteFunc(below, func(line string) bool { return line == "" })...)
		}
	}
	for _, p := range s.predicted {
		if !p.right {
			entry(fmt.Sprintf(s.words.Foretold, p.Stage.ID, p.Question(s.Language)), p.replay())
		}
	}
	s.print("\n")
	switch {
	case text != "":
		s.prose(s.words.ReadAgain)
		s.print(text)
	case len(s.questions)+len(s.predicted) > 0:
		s.prose(s.words.AllSaid)
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
			s.prose("\n" + s.words.Compare)
			begun = true
		}
		s.prose("\n**" + q.Title + "**\n\n**" + s.words.You + "** " + q.typed + "\n\n**" + s.words.Model + "** " + q.Parts[Spoken])
	}
}
