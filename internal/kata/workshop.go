package kata

import (
	"context"
	"os"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// workshop compiles the learner's lock, and keeps the last program: as long as
// nothing is saved, the next check and the next search need no compiler.
type workshop struct {
	root  string
	lang  i18n.Language
	say   func(i18n.Message) // is told what it does; nil: nobody asks
	ready *Program           // has locks that were compiled before; nil if there is none
	last  *Program
}

var compiling = i18n.New("compiling your lock")

// task is what an exercise asks of a lock, in the workshop's language.
func (w *workshop) task(e Exercise) judge.Task {
	task := e.task()
	task.Lang = w.lang
	return task
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
	w.tell(compiling.Args())
	w.last, err = Build(ctx, w.root, files)
	return w.last, err
}

// tell says what the workshop does.
func (w *workshop) tell(what i18n.Message) {
	if w.say != nil {
		w.say(what)
	}
}

// close removes what was kept.
func (w *workshop) close() {
	if w.last != nil {
		w.last.Close()
	}
	w.last = nil
}
