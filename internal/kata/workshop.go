package kata

import (
	"context"
	"os"
)

// workshop compiles the learner's lock, and keeps the last program: as long as
// nothing is saved, the next check and the next search need no compiler.
type workshop struct {
	key     string
	program *Program
}

// build returns a program that can judge the lock with these files, by [lockName].
// It is the workshop's.
func (w *workshop) build(ctx context.Context, root string, files Files) (*Program, error) {
	key := files.key()
	if w.program != nil && w.key == key {
		if _, err := os.Stat(w.program.file); err == nil { // nobody has swept it away
			return w.program, nil
		}
	}
	w.close()
	program, err := Build(ctx, root, map[string]Files{lockName: files})
	if err != nil {
		return nil, err
	}
	w.key, w.program = key, program
	return program, nil
}

// close removes what is kept.
func (w *workshop) close() {
	if w.program != nil {
		w.program.Close()
	}
	w.program = nil
}
