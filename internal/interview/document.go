package interview

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockkata/internal/i18n"
)

var (
	grading    = regexp.MustCompile(`^\*([^*·]+) · ([^*·]+)\*$`)
	anchorLine = regexp.MustCompile(`^<a id="([a-z0-9]+(?:-[a-z0-9]+)*)"></a>$`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
)

// parser reads a document.
type parser struct {
	file     string
	language i18n.Language
	labels   []string // those of the parts
	themes   []Theme
	ids      map[string]int // the lines of the anchors
}

// Parse reads a document of interview questions in a language. An error names the file,
// the line, and what is missing there.
func Parse(file, text string, l i18n.Language) ([]Theme, error) {
	p := &parser{file: file, language: l, ids: map[string]int{}}
	for part := range parts {
		p.labels = append(p.labels, part.Label(l))
	}
	all, err := p.sections(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if err := p.add(s); err != nil {
			return nil, err
		}
	}
	themes := slices.DeleteFunc(slices.Clone(p.themes), func(t Theme) bool { return t.ID == "" })
	if len(themes) == 0 {
		return nil, p.fault(strings.Count(text, "\n"), `there is no theme: an <a id="theme-…"></a> and a "## " heading under it`)
	}
	return themes, p.endTheme()
}

// endTheme wants the last theme to have a question.
func (p *parser) endTheme() error {
	if n := len(p.themes); n > 0 && p.themes[n-1].ID != "" && len(p.themes[n-1].Questions) == 0 {
		return p.fault(p.themes[n-1].line, "the theme %s has no question", p.themes[n-1].ID)
	}
	return nil
}

func (p *parser) fault(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...))
}

// section is a heading, with the anchor above it, and the lines under it.
type section struct {
	isTheme       bool
	title, anchor string
	line          int
	lines         []string
}

// sections divides a document. In a block of code nothing but text stands.
func (p *parser) sections(lines []string) (all []section, err error) {
	anchor, fenced := "", false
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		title, isTheme := strings.CutPrefix(line, "## ")
		title, isQuestion := strings.CutPrefix(title, "### ")
		m := anchorLine.FindStringSubmatch(line)
		isFence := strings.HasPrefix(line, "```")
		switch {
		case fenced || isFence:
			fenced = fenced != isFence
		case anchor != "" && line != "" && !isTheme && !isQuestion:
			return nil, p.fault(i+1, "the anchor %s has no heading under it", anchor)
		case m != nil:
			anchor = m[1]
			continue
		case isTheme || isQuestion:
			all = append(all, section{isTheme: isTheme, title: title, anchor: anchor, line: i + 1})
			anchor = ""
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	if fenced {
		return nil, p.fault(len(lines), "a block of code has no end")
	}
	return all, nil
}

// add adds a theme, or a question to the last theme. A chapter without an anchor has text
// that nobody asks about.
func (p *parser) add(s section) error {
	n := len(p.themes)
	switch before, taken := p.ids[s.anchor]; {
	case s.isTheme && s.anchor != "" && !strings.HasPrefix(s.anchor, themePrefix):
		return p.fault(s.line, "the anchor %s of the theme %q does not begin with %s", s.anchor, s.title, themePrefix)
	case !s.isTheme && s.anchor == "":
		return p.fault(s.line, `the question %q has no anchor: a line <a id="…"></a> above it`, s.title)
	case !s.isTheme && (n == 0 || p.themes[n-1].ID == ""):
		return p.fault(s.line, "the question %s stands under no theme", s.anchor)
	case !s.isTheme && !p.belongs(s.anchor):
		return p.fault(s.line, "the question %s stands under %s: its anchor has to begin with %s-", s.anchor, p.themes[n-1].ID, p.themes[n-1].Short())
	case taken && s.anchor != "":
		return p.fault(s.line, "the anchor %s is that of line %d", s.anchor, before)
	}
	p.ids[s.anchor] = s.line
	if s.isTheme {
		if err := p.endTheme(); err != nil {
			return err
		}
		p.themes = append(p.themes, Theme{ID: s.anchor, Title: s.title, line: s.line})
		return nil
	}
	q, err := p.question(s, p.themes[n-1].Title)
	p.themes[n-1].Questions = append(p.themes[n-1].Questions, q)
	return err
}

// belongs tells whether a question may stand in the last theme.
func (p *parser) belongs(id string) bool {
	last := p.themes[len(p.themes)-1]
	return slices.ContainsFunc(p.themes, func(t Theme) bool {
		return (t.ID == last.ID || last.ID == appendix) && strings.HasPrefix(id, t.Short()+"-")
	})
}

// question reads a question: under its heading its rank and its level, then its parts.
func (p *parser) question(s section, theme string) (Question, error) {
	q := Question{ID: s.anchor, Theme: theme, Title: s.title}
	graded, part, fenced := false, Part(-1), false
	for i, line := range s.lines {
		var err error
		switch n := s.line + 1 + i; {
		case !graded && line != "":
			graded, err = true, p.grade(&q, line, n)
		case graded:
			fenced = fenced != strings.HasPrefix(line, "```")
			part, err = p.read(&q, line, n, part, fenced)
		}
		if err != nil {
			return q, err
		}
	}
	for i, label := range p.labels {
		q.Parts[i] = strings.Trim(q.Parts[i], "\n")
		switch {
		case Part(i) > part:
			return q, p.fault(s.line, "the question %s has no %s", q.ID, label)
		case q.Parts[i] == "":
			return q, p.fault(s.line, "the question %s has nothing after %s", q.ID, label)
		}
	}
	m := codeSpan.FindStringSubmatch(q.Parts[Proof])
	switch noRun := noRun.Localize(p.language); {
	case strings.HasPrefix(q.Parts[Proof], noRun):
	case m == nil:
		return q, p.fault(s.line, "the question %s has no command in back quotes after %s, nor %q", q.ID, p.labels[Proof], noRun)
	default:
		q.Command = m[1]
	}
	return q, nil
}

// grade reads a question's rank and its level.
func (p *parser) grade(q *Question, line string, n int) error {
	m := grading.FindStringSubmatch(line)
	if m == nil {
		return p.fault(n, "the question %s has no *rank · level* under its heading", q.ID)
	}
	ranks, levels := i18n.Each(p.language, rankNames[:]...), i18n.Each(p.language, levelNames[:]...)
	q.Rank, q.Level = Rank(slices.Index(ranks, m[1])), Level(slices.Index(levels, m[2]))
	if q.Rank < 0 {
		return p.fault(n, "%q is no rank: there are %s", m[1], strings.Join(ranks, ", "))
	}
	if q.Level < 0 {
		return p.fault(n, "%q is no level: there are %s", m[2], strings.Join(levels, ", "))
	}
	return nil
}

// read reads a line of a question's parts. It returns the part that the line stands in.
func (p *parser) read(q *Question, line string, n int, part Part, fenced bool) (Part, error) {
	labels := p.labels
	if i := slices.IndexFunc(labels, func(label string) bool { return !fenced && strings.HasPrefix(line, label) }); i >= 0 {
		switch next := Part(i); {
		case part >= 0 && q.Parts[part] != "" && !strings.HasSuffix(q.Parts[part], "\n\n"):
			return part, p.fault(n, "the question %s has no empty line before %s", q.ID, labels[i])
		case next <= part:
			return part, p.fault(n, "the question %s has a second %s, or has it too late", q.ID, labels[i])
		case next > part+1:
			return part, p.fault(n, "the question %s has no %s before %s", q.ID, labels[part+1], labels[i])
		}
		part, line = Part(i), strings.TrimSpace(strings.TrimPrefix(line, labels[i]))
	}
	if part < 0 && line != "" {
		return part, p.fault(n, "the question %s begins with text that is no part: %s comes first", q.ID, labels[Spoken])
	}
	if part >= 0 {
		q.Parts[part] += line + "\n"
	}
	return part, nil
}
