package interview

import (
	"slices"
	"strings"

	"lockkata/internal/i18n"
)

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
