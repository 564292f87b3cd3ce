package kata

import (
	"context"
	"fmt"
	"os"
)

// workshop compiles the learner's lock, and keeps the last program: as long as
// nothing is saved, the next check and the next search need no compiler.
type workshop struct {
	root  string
	say   func(string) // is told what it does; nil: nobody asks
	ready *Program     // has locks that were compiled before; nil if there is none
	last  *Program
}

// program is one that can judge these files. It is the workshop's.
func (w *workshop) program(ctx context.Context, files Files) (p *Program, err error) {
	for _, p := range []*Program{w.ready, w.last} {
		if p == nil || p.names[files.key()] == "" {
			continue
		}
		if _, err := os.Stat(p.file); err == nil { // nobody has swept it away
			return p, nil
		}
	}
	w.close()
	w.tell("compiling your lock")
	w.last, err = Build(ctx, w.root, files)
	return w.last, err
}

// tell says what the workshop does.
func (w *workshop) tell(format string, args ...any) {
	if w.say != nil {
		w.say(fmt.Sprintf(format, args...))
	}
}

// close removes what was kept.
func (w *workshop) close() {
	if w.last != nil {
		w.last.Close()
	}
	w.last = nil
}
