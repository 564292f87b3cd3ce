package interview

import (
	"slices"
	"strings"

	"lockkata/internal/i18n"
)

var document = i18n.New("docs/interview.md")

// Document returns the file of the questions in a language.
func Document(l i18n.Language) string { return document.Localize(l) }

// Part is one of the parts of a question's entry.
type Part int

// The parts, in the order of the document.
const (
	Spoken Part = iota // the answer of 30 seconds
	Drawing
	Depth
	FollowUps
	Proof
	parts
)

var (
	partNames = [parts]i18n.Text{
		i18n.New("In 30 seconds"), i18n.New("Drawing"), i18n.New("In depth"), i18n.New("Follow-ups"), i18n.New("Proof"),
	}
	label = i18n.New("**{part}.**")
	noRun = i18n.New("No run here:") // begins a proof that no command gives
)

// Label returns what a part begins with in the document of a language.
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

// Localize returns the level's name in the document of a language.
func (l Level) Localize(language i18n.Language) string { return levelNames[l].Localize(language) }

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
	Command string // the command that proves the answer; "" if the document has none
}

// Short returns the theme's name on a command line: lease.
func (t Theme) Short() string { return strings.TrimPrefix(t.ID, themePrefix) }

const themePrefix = "theme-"

// appendix is the theme whose questions keep the names of the themes they belong to.
const appendix = themePrefix + "appendix"
