// Package stages is the table of the locks: name, folder, constructor, the lock that each is built
// on, and the expected outcomes.
package stages

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
)

// Stage is one of the locks: a stage, a step between two stages, or a document's lock.
type Stage struct {
	ID     string // as in commands: 2, 6.1
	Title  string // names the new part
	Lesson string // what to look at in the difference to the lock before
	Before string // the ID of the lock that it is built on; "" for the first
	Map    []Part // its files, for a rewritten lock, where a line-by-line difference is of no use
	Dir    string // its folder
	Hidden bool   // shown only on request
	// Challenge is a shortest schedule that breaks the stage's most telling property. A player is
	// asked to find it.
	Challenge string
	Subject   failures.Subject
}

// SuiteSchedules is how many schedules the suite's search runs on the public stages.
const SuiteSchedules = 103501

//go:embed searches.txt
var searchesText string

// searches has a row for each property in an environment, with a word for each stage.
var searches = failures.ReadTable(searchesText)

var stageName = i18n.New("stage {id}")

func init() {
	for _, s := range append(slices.Clip(Table), Wait, RedLock) {
		i18n.Register(i18n.Text(s.Title), i18n.Text(s.Lesson))
		for _, part := range s.Map {
			i18n.Register(part.Adds, part.Skip)
		}
	}
}

// NameIn returns the name for sentences, in a language.
func (s Stage) NameIn(l i18n.Language) string { return s.NameText().Localize(l) }

// NameText returns the name as a part of a message.
func (s Stage) NameText() i18n.Message {
	if s.ID > "0" && s.ID < ":" { // it begins with a digit
		return stageName.Args("id", s.ID)
	}
	return i18n.Text(s.ID).Args()
}

// TitleIn returns the title in a language.
func (s Stage) TitleIn(l i18n.Language) string { return i18n.Text(s.Title).Localize(l) }

// Expect returns the expected outcome of a failure.
func (s Stage) Expect(f catalogue.Failure) failures.Outcome { return failures.Expected(s.ID)(f) }

// Search returns the expected result of a search for a property in an environment: the faults and
// steps of the shortest counterexample with one attempt of each client, as in 2/9. "none" means
// none up to the suite's bound, "-" that the property does not apply, and "" that the suite does
// not search.
func (s Stage) Search(property, env string) string {
	return strings.TrimSuffix(searches.Cell(property+"/"+env, s.ID), "?")
}

// Public returns the stages that are shown by default, in order.
func Public() []Stage { return slices.DeleteFunc(slices.Clone(Table), isHidden) }

func isHidden(s Stage) bool { return s.Hidden }

// All returns the stages with the steps between them, in order.
func All() []Stage { return Table[:len(Table)-len(documents)] }

// Steps returns the stages that lead to the last one, with the one where they begin.
func Steps() []Stage { return All()[slices.IndexFunc(Table, isHidden)-1:] }

// IDs returns the stages' IDs, in order.
func IDs(of []Stage) []string {
	var ids []string
	for _, s := range of {
		ids = append(ids, s.ID)
	}
	return ids
}

var isNoStage = i18n.New("{id} is not a stage and has no search: go run . --servers shows its failures")

var noStage = i18n.New("there is no stage {id}; there are: {ids}")

// Find returns the stage with that ID.
func Find(id string) (Stage, error) {
	for _, s := range Table {
		if s.ID == id {
			return s, nil
		}
	}
	if id == Wait.ID || id == RedLock.ID {
		return Stage{}, isNoStage.Args("id", id)
	}
	return Stage{}, noStage.Args("id", strconv.Quote(id), "ids", strings.Join(IDs(All()), ", "))
}

// MustFind is [Find] for an ID that must exist.
func MustFind(id string) Stage {
	s, err := Find(id)
	if err != nil {
		panic(err)
	}
	return s
}

// FixedBy returns the last stage that a failure breaks, and the first one after it that it
// does not break. Either may be nil.
func FixedBy(of []Stage, f catalogue.Failure) (broken, fixed *Stage) {
	for i, s := range of {
		switch s.Expect(f) {
		case failures.Broken, failures.Limit:
			broken, fixed = &of[i], nil
		case failures.Safe, failures.Noticed:
			if fixed == nil && broken != nil {
				fixed = &of[i]
			}
		}
	}
	return broken, fixed
}

// First returns the first stage to which the failure applies.
func First(of []Stage, f catalogue.Failure) Stage {
	for _, s := range of {
		if s.Expect(f) != failures.NotApplicable {
			return s
		}
	}
	return of[0]
}

// Here returns a bench for each stage, in this process.
func Here(t *testing.T, of []Stage) []failures.Bench {
	benches := make([]failures.Bench, len(of))
	for n, s := range of {
		benches[n] = failures.Here(t, s.Subject)
	}
	return benches
}
