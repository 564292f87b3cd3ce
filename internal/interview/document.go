package interview

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"lockkata/internal/i18n"
)

var (
	grading    = regexp.MustCompile(`^\*([^*·]+) · ([^*·]+)\*$`)
	anchorLine = regexp.MustCompile(`^<a id="([a-z0-9]+(?:-[a-z0-9]+)*)"></a>$`)
	followUp   = regexp.MustCompile(`(?s)^([^?？]*[?？])\s*(\S.*)$`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
)

// Parse parses the pages of questions in a language. Each page is a theme, but for the must-knows
// and the appendix: their questions belong to the theme that their anchors begin with. An error
// names the file, the line and the missing part.
func Parse(files fs.FS, l i18n.Language) (themes []Theme, err error) {
	pages, _ := fs.Glob(files, folder.Localize(l)+"/*.md") // the pattern is valid
	texts := make([]string, len(pages))
	for i, file := range pages {
		raw, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		texts[i] = string(raw)
		if id := strings.TrimSuffix(path.Base(file), ".md"); id != "must" && id != "appendix" {
			title, _, _ := strings.Cut(texts[i], "\n")
			themes = append(themes, Theme{ID: id, Title: strings.TrimSpace(strings.TrimPrefix(title, "# "))})
		}
	}
	places := map[string]string{} // of the anchors
	for i, file := range pages {
		for _, s := range sections(texts[i]) {
			of := slices.IndexFunc(themes, func(t Theme) bool { return strings.HasPrefix(s.anchor, t.ID+"-") })
			place := fmt.Sprintf("%s:%d", file, s.line)
			switch before := places[s.anchor]; {
			case s.anchor == "":
				err = fmt.Errorf(`the question %q has no anchor: a line <a id="…"></a> above it`, s.title)
			case before != "":
				err = fmt.Errorf("the anchor %s is that of %s", s.anchor, before)
			case of < 0:
				err = fmt.Errorf("the anchor %s does not begin with the name of a theme's page", s.anchor)
			default:
				q := Question{ID: s.anchor, Place: file + "#" + s.anchor, Theme: themes[of].Title, Title: s.title}
				err = q.parse(s.text, l)
				themes[of].Questions = append(themes[of].Questions, q)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", place, err)
			}
			places[s.anchor] = place
		}
	}
	return themes, nil
}

// section is a heading with its anchor and its text.
type section struct {
	title, anchor string
	line          int
	text          string
}

// sections splits a page at its questions' headings. Code blocks are plain text.
func sections(text string) (all []section) {
	anchor, fenced := "", false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		fenced = fenced != strings.HasPrefix(line, "```")
		title, isQuestion := strings.CutPrefix(line, "## ")
		m := anchorLine.FindStringSubmatch(line)
		switch {
		case m != nil && !fenced:
			anchor = m[1]
		case isQuestion && !fenced:
			all = append(all, section{title: title, anchor: anchor, line: i + 1})
			anchor = ""
		case len(all) > 0:
			all[len(all)-1].text += line + "\n"
		}
	}
	return all
}

// parse parses what is below a question's heading: its rank and level, then its parts, each after
// an empty line.
func (q *Question) parse(text string, l i18n.Language) error {
	first, rest, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	if err := q.grade(first, l); err != nil {
		return err
	}
	into := &first
	for p := range parts {
		if before, after, found := strings.Cut("\n"+rest, "\n\n"+p.Label(l)); found {
			*into, into, rest = before, &q.Parts[p], after
		}
	}
	*into = rest
	for p := range parts {
		q.Parts[p] = strings.TrimSpace(q.Parts[p])
		if isOptional := p == Drawing || p == Depth || p == TwoMinutes && q.Rank != Must; q.Parts[p] == "" && !isOptional {
			return fmt.Errorf("the question %s has no %s with a text, after an empty line and in its place", q.ID, p.Label(l))
		}
	}
	q.Points = items(q.Parts[Points])
	if n := len(q.Points); n < 3 || n > 5 {
		return fmt.Errorf("the question %s has %d items after %s, not 3 to 5", q.ID, n, Points.Label(l))
	}
	for _, text := range items(q.Parts[FollowUps]) {
		m := followUp.FindStringSubmatch(text)
		if m == nil {
			return fmt.Errorf("the question %s has a follow-up without a question mark, or an answer after it: %s", q.ID, text)
		}
		q.FollowUps = append(q.FollowUps, FollowUp{m[1], m[2]})
	}
	if len(q.FollowUps) == 0 {
		return fmt.Errorf("the question %s has no items after %s", q.ID, FollowUps.Label(l))
	}
	m := codeSpan.FindStringSubmatch(q.Parts[Proof])
	switch noRun := noRun.Localize(l); {
	case strings.HasPrefix(q.Parts[Proof], noRun):
	case m == nil:
		return fmt.Errorf("the question %s has no command in back quotes after %s, nor %q", q.ID, Proof.Label(l), noRun)
	default:
		q.Command = m[1]
	}
	return nil
}

// items returns the items of a list; none if the text has something else.
func items(text string) (all []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if begin, found := strings.CutPrefix(line, "- "); found {
			all = append(all, begin)
		} else if more, found := strings.CutPrefix(line, "  "); found && len(all) > 0 {
			all[len(all)-1] += "\n" + more
		} else {
			return nil
		}
	}
	return all
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

var folder = i18n.New("docs/interview") // of the pages of a language

// Part is one of the parts of a question's entry.
type Part int

// The parts, in the order of an entry.
const (
	Spoken     Part = iota // the answer of 30 seconds
	TwoMinutes             // the longer answer to a must-know
	Points                 // what a listener ticks off
	Drawing
	Depth
	FollowUps
	Proof
	parts
)

var (
	partNames = [parts]i18n.Text{
		i18n.New("In 30 seconds"), i18n.New("In two minutes"), i18n.New("Key points"), i18n.New("Drawing"), i18n.New("In depth"),
		i18n.New("Follow-ups"), i18n.New("Proof"),
	}
	label = i18n.New("**{part}.**")
	noRun = i18n.New("No run here:") // begins a proof that no command gives
)

// Label returns what a part begins with in the pages of a language.
func (p Part) Label(l i18n.Language) string { return label.Localize(l, "part", partNames[p]) }

// Rank is how often a question is asked.
type Rank int

// The ranks, in the order of an interview.
const (
	Must  Rank = iota // each candidate should know the answer
	Often             // asked in many interviews
	Deep              // for candidates who have answered the others
	ranks
)

var rankNames = [ranks]i18n.Text{i18n.New("must know"), i18n.New("often"), i18n.New("deep")}

// Level is the experience that a question asks for.
type Level int

// The levels, the easiest first.
const (
	Junior Level = iota
	Senior
	Staff
	levels
)

var levelNames = [levels]i18n.Text{i18n.New("junior"), i18n.New("senior"), i18n.New("staff")}

var noLevel = i18n.New("there are {names}")

// FindLevel returns the level of that name in any language.
func FindLevel(name string) (Level, error) {
	for _, l := range i18n.Languages {
		if i := slices.Index(i18n.Each(l, levelNames[:]...), strings.ToLower(name)); i >= 0 {
			return Level(i), nil
		}
	}
	return 0, noLevel.Args("names", strings.Join(i18n.Each(i18n.English, levelNames[:]...), ", "))
}

// Localize returns the level's name in a language.
func (l Level) Localize(language i18n.Language) string { return levelNames[l].Localize(language) }

// Theme is a page of questions, with the questions of the must-knows and the appendix that belong to it.
type Theme struct {
	ID        string // lease
	Title     string
	Questions []Question
}

// Question is a question with its answers, as Markdown.
type Question struct {
	ID        string // lease-why
	Place     string // docs/interview/lease.md#lease-why
	Theme     string // the title of its theme
	Title     string // the question itself
	Rank      Rank
	Level     Level
	Parts     [parts]string
	Points    []string
	FollowUps []FollowUp
	Command   string // the command that proves the answer; "" if the page has none
}

// FollowUp is what an interviewer asks next.
type FollowUp struct{ Question, Answer string }
