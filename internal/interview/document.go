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

// Parse parses a document of interview questions in a language. An error names the file, the line
// and the missing part.
func Parse(file, text string, l i18n.Language) (themes []Theme, err error) {
	ids := map[string]int{} // the line of each anchor
	for _, s := range sections(text) {
		n := len(themes)
		switch before := ids[s.anchor]; {
		case s.anchor == "" && s.isTheme: // a chapter that has no questions
			continue
		case s.anchor == "":
			err = fmt.Errorf(`the question %q has no anchor: a line <a id="…"></a> above it`, s.title)
		case before > 0:
			err = fmt.Errorf("the anchor %s is that of line %d", s.anchor, before)
		case s.isTheme && strings.HasPrefix(s.anchor, themePrefix):
			themes = append(themes, Theme{ID: s.anchor, Title: s.title})
		case s.isTheme:
			err = fmt.Errorf("the anchor %s of the theme %q does not begin with %s", s.anchor, s.title, themePrefix)
		case n == 0 || !belongs(s.anchor, themes):
			err = fmt.Errorf("the question %s stands under another theme: its anchor begins with the theme's name", s.anchor)
		default:
			var q Question
			q, err = s.question(themes[n-1].Title, l)
			themes[n-1].Questions = append(themes[n-1].Questions, q)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, s.line, err)
		}
		ids[s.anchor] = s.line
	}
	i := slices.IndexFunc(themes, func(t Theme) bool { return len(t.Questions) == 0 })
	switch {
	case len(themes) == 0:
		return nil, fmt.Errorf(`%s: there is no theme: an <a id="theme-…"></a> and a "## " heading under it`, file)
	case i >= 0:
		return nil, fmt.Errorf("%s:%d: the theme %s has no question", file, ids[themes[i].ID], themes[i].ID)
	}
	return themes, nil
}

// belongs reports whether a question may be in the last theme. The appendix, which is the last
// theme, has questions of every theme.
func belongs(id string, themes []Theme) bool {
	last := themes[len(themes)-1]
	return slices.ContainsFunc(themes, func(t Theme) bool {
		return (t.ID == last.ID || last.ID == appendix) && strings.HasPrefix(id, t.Short()+"-")
	})
}

// section is a heading with its anchor and its text.
type section struct {
	isTheme       bool
	title, anchor string
	line          int
	text          string
}

// sections splits a document at its headings. Code blocks are plain text.
func sections(text string) (all []section) {
	anchor, fenced := "", false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		fenced = fenced != strings.HasPrefix(line, "```")
		title, isTheme := strings.CutPrefix(line, "## ")
		title, isQuestion := strings.CutPrefix(title, "### ")
		m := anchorLine.FindStringSubmatch(line)
		switch {
		case m != nil && !fenced:
			anchor = m[1]
		case (isTheme || isQuestion) && !fenced:
			all = append(all, section{isTheme: isTheme, title: title, anchor: anchor, line: i + 1})
			anchor = ""
		case len(all) > 0:
			all[len(all)-1].text += line + "\n"
		}
	}
	return all
}

// question parses a question: below its heading its rank and level, then its parts, each after an
// empty line.
func (s section) question(theme string, l i18n.Language) (Question, error) {
	q := Question{ID: s.anchor, Theme: theme, Title: s.title}
	before, rest := "", "\n\n"+strings.TrimLeft(s.text, "\n")
	for part := range parts {
		found := false
		before, rest, found = strings.Cut(rest, "\n\n"+part.Label(l))
		if !found {
			return q, fmt.Errorf("the question %s has no %s after an empty line, or has it too late", q.ID, part.Label(l))
		}
		if part > 0 {
			q.Parts[part-1] = before
		} else if err := q.grade(strings.TrimSpace(before), l); err != nil {
			return q, err
		}
	}
	q.Parts[Proof] = rest
	for i := range q.Parts {
		if q.Parts[i] = strings.TrimSpace(q.Parts[i]); q.Parts[i] == "" {
			return q, fmt.Errorf("the question %s has nothing after %s", q.ID, Part(i).Label(l))
		}
	}
	m := codeSpan.FindStringSubmatch(q.Parts[Proof])
	switch noRun := noRun.Localize(l); {
	case strings.HasPrefix(q.Parts[Proof], noRun):
	case m == nil:
		return q, fmt.Errorf("the question %s has no command in back quotes after %s, nor %q", q.ID, Proof.Label(l), noRun)
	default:
		q.Command = m[1]
	}
	return q, nil
}

// grade parses a question's rank and level.
func (q *Question) grade(line string, l i18n.Language) error {
	ranks, levels := i18n.Each(l, rankNames[:]...), i18n.Each(l, levelNames[:]...)
	m := grading.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("the question %s has no *rank · level* under its heading", q.ID)
	}
	q.Rank, q.Level = Rank(slices.Index(ranks, m[1])), Level(slices.Index(levels, m[2]))
	if q.Rank < 0 || q.Level < 0 {
		return fmt.Errorf("%q of the question %s: the ranks are %s, the levels %s", line, q.ID, strings.Join(ranks, ", "), strings.Join(levels, ", "))
	}
	return nil
}
