package interview

import (
	"fmt"
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
	counts := map[string][3]int{}
	var themes []string
	for _, q := range s.questions {
		if q.mark == "" {
			continue
		}
		n, was := counts[q.Theme]
		if !was {
			themes = append(themes, q.Theme)
		}
		n[strings.Index(keySaid+keyHalf+keyNot, q.mark)]++
		counts[q.Theme] = n
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
	if len(themes) == 0 && marked == 0 {
		s.prose(s.words.Nothing)
		return
	}
	if len(themes) > 0 {
		s.table(themes, counts)
	}
	if marked > 0 {
		s.prose(fmt.Sprintf(s.words.Predicted, right, marked))
	}
}

func (s *Session) table(themes []string, counts map[string][3]int) {
	head := s.words.Columns
	wide := term.Columns(head[0])
	for _, t := range themes {
		wide = max(wide, term.Columns(t))
	}
	row := func(name string, cells ...any) {
		line := term.Pad(name, wide)
		for i, cell := range cells {
			text := fmt.Sprint(cell)
			line += strings.Repeat(" ", 2+term.Columns(head[i+1])-term.Columns(text)) + text
		}
		s.print(line + "\n")
	}
	row(head[0], head[1], head[2], head[3])
	for _, t := range themes {
		row(t, counts[t][0], counts[t][1], counts[t][2])
	}
}

// readAgain names the questions that were not fully said, where they stand, and the
// commands that prove their answers; and the schedules that were foretold wrongly.
func (s *Session) readAgain() {
	var b strings.Builder
	for _, q := range s.questions {
		if q.mark == keySaid {
			continue
		}
		title := q.Title
		if q.mark == "" {
			title = fmt.Sprintf(s.words.Unmarked, title)
		}
		fmt.Fprintf(&b, "%s\n  docs/%s#%s\n", s.page.set("- "+title), s.Language.Document, q.ID)
		if q.Command != "" {
			fmt.Fprintf(&b, "  %s\n", q.Command)
		}
	}
	for _, p := range s.predicted {
		if !p.right {
			fmt.Fprintf(&b, "%s\n  go run . replay '%s'\n", s.page.set("- "+fmt.Sprintf(s.words.Foretold, p.Stage.Number, p.Question(s.Language))), p.Text())
		}
	}
	s.print("\n")
	switch {
	case b.Len() > 0:
		s.prose(s.words.ReadAgain)
		s.print(strings.ReplaceAll(b.String(), "\n\n", "\n"))
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
