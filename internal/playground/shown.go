package playground

import (
	"io/fs"
	"path"
	"strings"

	"lockkata/internal/edits"
	"lockkata/internal/texts"
)

func init() {
	for _, e := range edits.All {
		texts.Know(texts.Text(e.Name), texts.Text(e.Suffers))
	}
}

// shown is an edit with the place where it is. usual is what is searched for where the edit
// asks for no search of its own.
func (l locks) shown(e edits.Edit, usual Question, in texts.Language) (Edit, error) {
	raw, err := fs.ReadFile(l.sources, e.File)
	if err != nil {
		return Edit{}, err
	}
	before, _, _ := strings.Cut(string(raw), e.Old)
	shown := Edit{
		ID: e.ID(), Name: texts.Text(e.Name).In(in), File: path.Base(e.File), Line: 1 + strings.Count(before, "\n"), Old: e.Old, New: e.New,
		Suffers: texts.Text(e.Suffers).In(in), Failure: e.Failure, Search: usual, Clashes: []string{},
	}
	if property, env, asked := strings.Cut(e.Search, "/"); asked {
		shown.Search = Question{property, env}
	}
	for _, other := range edits.All {
		if other.Name != e.Name && clash(e, other, string(raw)) {
			shown.Clashes = append(shown.Clashes, other.ID())
		}
	}
	return shown, nil
}
