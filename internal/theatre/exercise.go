package theatre

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"lockkata/failures_test/timeline"
	"lockkata/internal/kata"
	"lockkata/internal/playground"
	"lockkata/internal/texts"
)

// exercise is one of kata's, to be done in the page.
type exercise struct {
	ID       string               `json:"id"`
	Base     string               `json:"base"` // the ID of the lock whose good outcomes are asked for
	Title    string               `json:"title"`
	Story    string               `json:"story"`
	Files    []timeline.File      `json:"files,omitempty"` // what it begins with; none: it is for a compiler
	Hints    []string             `json:"hints"`
	Required []string             `json:"required"` // failures to be survived, in the order in which they are told
	Fixed    string               `json:"fixed"`
	Question string               `json:"question"`
	Search   *playground.Question `json:"search,omitempty"` // what finds the mistake in a lock to repair
	Blind    string               `json:"blind,omitempty"`  // or why no search does
}

// exercises are all of kata's. One whose lock needs an adapter is for a compiler.
func exercises(sources fs.FS, in texts.Language) (all []exercise, err error) {
	for _, e := range kata.All {
		told := exercise{
			ID: e.ID, Base: e.Base, Title: e.Title.In(in), Story: e.Story.In(in), Hints: texts.Each(in, e.Hints[:]...),
			Required: e.Required(), Fixed: e.Fixed.In(in), Question: e.Question.In(in), Blind: e.Search.Blind.In(in),
		}
		if e.Search.Property != "" {
			told.Search = &playground.Question{Property: e.Search.Property, Env: e.Search.Env}
		}
		if e.Solution.Adapter == "" {
			if told.Files, err = filesOf(e.Start, sources); err != nil {
				return nil, fmt.Errorf("exercise %s: %w", e.ID, err)
			}
		}
		all = append(all, told)
	}
	return all, nil
}

// filesOf are the files of a lock, by their names.
func filesOf(m kata.Material, sources fs.FS) (all []timeline.File, err error) {
	files, err := m.Files(sources)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, timeline.File{Name: name, Text: files[name]})
	}
	return all, err
}
