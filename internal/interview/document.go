package interview

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Part is one of the parts of a question's entry.
type Part int

// The parts, in the order in which they stand in the document.
const (
	Spoken Part = iota // the answer of 30 seconds
	Drawing
	Depth
	FollowUps
	Proof
	parts
)

// Rank is how often a question is asked.
type Rank int

// The ranks, in the order in which an interview goes through them.
const (
	Must  Rank = iota // everybody should know the answer
	Often             // asked in many interviews
	Deep              // asked of those who have answered the others
	ranks
)

// Level is whom a question is asked.
type Level int

// The levels, the easiest first.
const (
	Junior Level = iota
	Senior
	Staff
	levels
)

// Theme is a chapter of the document.
type Theme struct {
	ID        string // theme-lease
	Title     string
	Questions []Question
}

// Question is a question with its answers, as Markdown.
type Question struct {
	ID      string // lease-why
	Theme   string // the title of its theme
	Title   string // the question itself
	Rank    Rank
	Level   Level
	Parts   [parts]string
	Command string // the one that proves the answer; "" where the document says that none does

	line int // of its heading
}

// Short is what the theme is called on a command line: lease.
func (t Theme) Short() string { return strings.TrimPrefix(t.ID, themePrefix) }

const themePrefix = "theme-"

// appendix is the theme whose questions keep the names of the themes they belong to.
const appendix = themePrefix + "appendix"

var (
	grading    = regexp.MustCompile(`^\*([^*·]+) · ([^*·]+)\*$`)
	anchorLine = regexp.MustCompile(`^<a id="([a-z0-9]+(?:-[a-z0-9]+)*)"></a>$`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
)

// parser reads a document line by line.
type parser struct {
	file     string
	language *Language
	themes   []Theme
	question *Question
	graded   bool   // the question's rank and level have been read
	part     Part   // that the next lines belong to; -1 before the first
	anchor   string // of the line before, "" if there was none
	line     int
	fenced   bool // inside a block of code, where nothing but text stands
	ids      map[string]int
}

// Parse reads a document of interview questions in a language. An error names the file,
// the line, and what is missing there.
func Parse(file, text string, l *Language) ([]Theme, error) {
	p := &parser{file: file, language: l, ids: map[string]int{}}
	for line := range strings.Lines(text) {
		p.line++
		if err := p.read(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, err
		}
	}
	if p.fenced {
		return nil, p.fault(p.line, "a block of code has no end")
	}
	if err := p.endTheme(); err != nil {
		return nil, err
	}
	if len(p.themes) == 0 {
		return nil, p.fault(p.line, `there is no theme: an <a id="theme-…"></a> and a "## " heading under it`)
	}
	return p.themes, nil
}

func (p *parser) fault(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...))
}

func (p *parser) read(line string) error {
	if p.fenced || strings.HasPrefix(line, "```") {
		if strings.HasPrefix(line, "```") {
			p.fenced = !p.fenced
		}
		return p.add(line)
	}
	if p.anchor != "" && line != "" && !strings.HasPrefix(line, "##") {
		return p.fault(p.line, "the anchor %s has no heading under it", p.anchor)
	}
	if m := anchorLine.FindStringSubmatch(line); m != nil {
		p.anchor = m[1]
		return p.endQuestion()
	}
	if title, ok := strings.CutPrefix(line, "### "); ok {
		return p.beginQuestion(title)
	}
	if title, ok := strings.CutPrefix(line, "## "); ok {
		return p.beginTheme(title)
	}
	return p.add(line)
}

// beginTheme begins a theme, or a chapter without an anchor, which has no questions.
func (p *parser) beginTheme(title string) error {
	if err := p.endTheme(); err != nil {
		return err
	}
	id := p.anchor
	p.anchor = ""
	if id == "" {
		p.themes = append(p.themes, Theme{}) // taken away when it ends
		return nil
	}
	if !strings.HasPrefix(id, themePrefix) {
		return p.fault(p.line, "the anchor %s of the theme %q does not begin with %s", id, title, themePrefix)
	}
	p.themes = append(p.themes, Theme{ID: id, Title: title})
	return p.note(id)
}

func (p *parser) beginQuestion(title string) error {
	if err := p.endQuestion(); err != nil {
		return err
	}
	id := p.anchor
	p.anchor = ""
	n := len(p.themes)
	switch {
	case id == "":
		return p.fault(p.line, `the question %q has no anchor: a line <a id="…"></a> above it`, title)
	case n == 0 || p.themes[n-1].ID == "":
		return p.fault(p.line, "the question %s stands under no theme", id)
	case !p.belongs(id):
		return p.fault(p.line, "the question %s stands under %s: its anchor has to begin with %s-", id, p.themes[n-1].ID, p.themes[n-1].Short())
	}
	p.question = &Question{ID: id, Theme: p.themes[n-1].Title, Title: title, line: p.line}
	p.part, p.graded = -1, false
	return p.note(id)
}

// belongs tells whether a question may stand in the last theme.
func (p *parser) belongs(id string) bool {
	last := p.themes[len(p.themes)-1]
	return slices.ContainsFunc(p.themes, func(t Theme) bool {
		return (t.ID == last.ID || last.ID == appendix) && strings.HasPrefix(id, t.Short()+"-")
	})
}

// grade reads the line under a question's heading: its rank and its level.
func (p *parser) grade(line string) error {
	m := grading.FindStringSubmatch(line)
	if m == nil {
		return p.fault(p.line, "the question %s has no *rank · level* under its heading", p.question.ID)
	}
	rank := slices.Index(p.language.Ranks[:], m[1])
	if rank < 0 {
		return p.fault(p.line, "%q is no rank: there are %s", m[1], strings.Join(p.language.Ranks[:], ", "))
	}
	level := slices.Index(p.language.Levels[:], m[2])
	if level < 0 {
		return p.fault(p.line, "%q is no level: there are %s", m[2], strings.Join(p.language.Levels[:], ", "))
	}
	p.question.Rank, p.question.Level, p.graded = Rank(rank), Level(level), true
	return nil
}

// note notes that an id is taken.
func (p *parser) note(id string) error {
	if before, taken := p.ids[id]; taken {
		return p.fault(p.line, "the anchor %s is that of line %d", id, before)
	}
	p.ids[id] = p.line
	return nil
}

// add adds a line to the part that it stands in. Outside of questions there is text
// that nobody asks about.
func (p *parser) add(line string) error {
	q := p.question
	if q == nil {
		return nil
	}
	if !p.graded && line != "" {
		return p.grade(line)
	}
	labels := p.language.Labels
	for i, label := range labels {
		rest, ok := strings.CutPrefix(line, label)
		if !ok || p.fenced {
			continue
		}
		switch {
		case p.part >= 0 && q.Parts[p.part] != "" && !strings.HasSuffix(q.Parts[p.part], "\n\n"):
			return p.fault(p.line, "the question %s has no empty line before %s", q.ID, label)
		case Part(i) <= p.part:
			return p.fault(p.line, "the question %s has a second %s, or has it too late", q.ID, label)
		case Part(i) > p.part+1:
			return p.fault(p.line, "the question %s has no %s before %s", q.ID, labels[p.part+1], label)
		}
		p.part, line = Part(i), strings.TrimSpace(rest)
		break
	}
	if p.part < 0 {
		if line != "" {
			return p.fault(p.line, "the question %s begins with text that is no part: %s comes first", q.ID, labels[Spoken])
		}
		return nil
	}
	q.Parts[p.part] += line + "\n"
	return nil
}

// endQuestion checks a question when the next one begins.
func (p *parser) endQuestion() error {
	q := p.question
	p.question = nil
	if q == nil {
		return nil
	}
	for i := range q.Parts {
		q.Parts[i] = strings.Trim(q.Parts[i], "\n")
		switch {
		case Part(i) > p.part:
			return p.fault(q.line, "the question %s has no %s", q.ID, p.language.Labels[i])
		case q.Parts[i] == "":
			return p.fault(q.line, "the question %s has nothing after %s", q.ID, p.language.Labels[i])
		}
	}
	if !strings.HasPrefix(q.Parts[Proof], p.language.NoRun) {
		m := codeSpan.FindStringSubmatch(q.Parts[Proof])
		if m == nil {
			return p.fault(q.line, "the question %s has no command in back quotes after %s, nor %q", q.ID, p.language.Labels[Proof], p.language.NoRun)
		}
		q.Command = m[1]
	}
	theme := &p.themes[len(p.themes)-1]
	theme.Questions = append(theme.Questions, *q)
	return nil
}

// endTheme ends the last theme. A chapter without an anchor goes.
func (p *parser) endTheme() error {
	if err := p.endQuestion(); err != nil {
		return err
	}
	n := len(p.themes)
	switch {
	case n == 0:
	case p.themes[n-1].ID == "":
		p.themes = p.themes[:n-1]
	case len(p.themes[n-1].Questions) == 0:
		return p.fault(p.ids[p.themes[n-1].ID], "the theme %s has no question", p.themes[n-1].ID)
	}
	return nil
}
