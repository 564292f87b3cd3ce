package playground

import (
	"io/fs"
	"path"
	"strings"

	"lockkata/internal/edits"
)

// shown is an edit with the place where it is. usual is what is searched for where the edit
// asks for no search of its own.
func (l locks) shown(e edits.Edit, usual Question) (Edit, error) {
	raw, err := fs.ReadFile(l.sources, e.File)
	if err != nil {
		return Edit{}, err
	}
	before, _, _ := strings.Cut(string(raw), e.Old)
	shown := Edit{
		ID: e.ID(), Name: e.Name, File: path.Base(e.File), Line: 1 + strings.Count(before, "\n"), Old: e.Old, New: e.New,
		Suffers: e.Suffers, Failure: e.Failure, Search: usual,
	}
	if property, env, asked := strings.Cut(e.Search, "/"); asked {
		shown.Search = Question{property, env}
	}
	return shown, nil
}
