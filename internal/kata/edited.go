package kata

import (
	"context"
	"io/fs"
	"path"

	failures "lockkata/failures_test"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
)

// PlayEdited compiles a lock of this repository with an edit, and plays a failure on it. root is the
// repository's folder, and sources has its files.
func PlayEdited(ctx context.Context, root string, sources fs.FS, e edits.Edit, failure string, l i18n.Language) (failures.Verdict, error) {
	raw, err := fs.ReadFile(sources, e.File)
	if err != nil {
		return failures.Verdict{}, err
	}
	text, err := e.Apply(string(raw))
	if err != nil {
		return failures.Verdict{}, err
	}
	files := Files{e.File: text}
	program, err := newProgram(e.Stage.Dir, func(p *Program) error {
		p.locks[files.key()] = shape{name: "stages", path: "lockkata/internal/stages", code: path.Join("lockkata", e.Stage.Dir), stage: e.Stage.ID}
		return p.compile(ctx, root, Files{e.File: text})
	})
	if err != nil {
		return failures.Verdict{}, err
	}
	defer program.Close()
	one := []string{failure}
	report, err := program.Judge(ctx, files, asked{failures: one, draw: one, lang: l})
	return report.Verdict(failure).Verdict, err
}
