package interview

import (
	"slices"
	"strings"

	"lockkata/internal/texts"
)

var document = texts.New("docs/interview.md")

// Document is the file of the questions in a language.
func Document(l texts.Language) string { return document.In(l) }

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

var (
	partNames = [parts]texts.Text{
		texts.New("In 30 seconds"), texts.New("Drawing"), texts.New("In depth"), texts.New("Follow-ups"), texts.New("Proof"),
	}
	label = texts.New("**{part}.**")
	noRun = texts.New("No run here:") // begins a proof that no command gives
)

// Label is what a part begins with in the document of a language.
func (p Part) Label(l texts.Language) string { return label.In(l, "part", partNames[p]) }

// Rank is how often a question is asked.
type Rank int

// The ranks, in the order in which an interview goes through them.
const (
	Must  Rank = iota // everybody should know the answer
	Often             // asked in many interviews
	Deep              // asked of those who have answered the others
	ranks
)

var rankNames = [ranks]texts.Text{texts.New("must know"), texts.New("often"), texts.New("deep")}

// Level is whom a question is asked.
type Level int

// The levels, the easiest first.
const (
	Junior Level = iota
	Senior
	Staff
	levels
)

var levelNames = [levels]texts.Text{texts.New("junior"), texts.New("senior"), texts.New("staff")}

var noLevel = texts.New("there are {names}")

// FindLevel is the level of that name in any language.
func FindLevel(name string) (Level, error) {
	for _, l := range texts.Languages {
		if i := slices.Index(texts.Each(l, levelNames[:]...), strings.ToLower(name)); i >= 0 {
			return Level(i), nil
		}
	}
	return 0, noLevel.With("names", strings.Join(texts.Each(texts.English, levelNames[:]...), ", "))
}

// In is what the document of a language calls it.
func (l Level) In(language texts.Language) string { return levelNames[l].In(language) }

// Theme is a chapter of the document.
type Theme struct {
	ID        string // theme-lease
	Title     string
	Questions []Question

	line int // of its heading
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
}

// Short is what the theme is called on a command line: lease.
func (t Theme) Short() string { return strings.TrimPrefix(t.ID, themePrefix) }

const themePrefix = "theme-"

// appendix is the theme whose questions keep the names of the themes they belong to.
const appendix = themePrefix + "appendix"
