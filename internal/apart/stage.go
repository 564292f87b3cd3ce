package apart

import (
	"context"
	"fmt"
	"maps"
	"path"

	"lockkata/internal/stages"
)

// BuildStage compiles a lock of this repository with changed files, by their paths. root is the repository's
// folder.
func BuildStage(ctx context.Context, root string, s stages.Stage, changed Files) (*Bench, error) {
	const dir = "internal/stages"
	l := Lock{Files: changed}
	p, err := newProgram(s.Dir, func(p *Program) error {
		p.locks[l.key()] = &compiledLock{test: "TestLock0", shape: shape{path: "lockkata/" + dir, code: path.Join("lockkata", s.Dir)}}
		code := maps.Clone(changed)
		code[path.Join(dir, testFile)] = fmt.Sprintf(stageText, s.ID)
		return p.compile(ctx, root, code)
	})
	if err != nil {
		return nil, err
	}
	return p.Bench(l), nil
}

const stageText = `package stages

import (
	"testing"

	"lockkata/failures_test/judge"
)

func TestMyLock(t *testing.T) {
	s, _ := FindLock(%q)
	judge.Test(t, s.Subject)
}
`
