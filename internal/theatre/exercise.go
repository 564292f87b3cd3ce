package theatre

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"lockkata/failures_test/timeline"
	"lockkata/internal/kata"
	"lockkata/internal/texts"
)

// exercise is one of kata's, to be done in the page.
type exercise struct {
	ID       string          `json:"id"` // that of the lock which it makes, too
	Title    string          `json:"title"`
	Story    string          `json:"story"`
	Files    []timeline.File `json:"files"` // what it begins with
	Hints    []string        `json:"hints"`
	Required []string        `json:"required"` // failures to be survived, in the order in which they are told
	Fixed    string          `json:"fixed"`
	Question string          `json:"question"`
}

// exercises are those of the lock that grows. What needs an adapter is for a compiler.
func exercises(sources fs.FS, in texts.Language) (all []exercise, err error) {
	for _, e := range kata.All {
		if e.ID != e.Base || e.Solution.Adapter != "" {
			continue
		}
		start, err := e.Start.Files(sources)
		if err != nil {
			return nil, fmt.Errorf("exercise %s: %w", e.ID, err)
		}
		told := exercise{
			ID: e.ID, Title: e.Title.In(in), Story: e.Story.In(in), Hints: texts.Each(in, e.Hints[:]...), Required: e.Required(),
			Fixed: e.Fixed.In(in), Question: e.Question.In(in),
		}
		for _, name := range slices.Sorted(maps.Keys(start)) {
			told.Files = append(told.Files, timeline.File{Name: name, Text: start[name]})
		}
		all = append(all, told)
	}
	return all, nil
}
