package kata

import (
	"context"

	"lockkata/internal/apart"
	"lockkata/internal/i18n"
)

// workshop compiles the learner's lock and keeps the last program, so that another check or search
// of the same files needs no compiler.
type workshop struct {
	root  string
	lang  i18n.Language
	say   func(i18n.Message) // gets the progress
	ready *apart.Program     // has locks that were compiled before; may be nil
	last  *apart.Program
	brief bool // plays only what the exercise requires, with a shorter search
}

var compileText = i18n.New("compiling your lock")

// bench returns the bench of a lock.
func (w *workshop) bench(ctx context.Context, l apart.Lock) (*apart.Bench, error) {
	p := w.ready
	if !p.Plays(l) {
		p = w.last
	}
	if !p.Plays(l) {
		w.close()
		w.say(compileText.Args())
		built, err := apart.Build(ctx, w.root, l)
		if err != nil {
			return nil, err
		}
		p, w.last = built, built
	}
	b := p.Bench(l)
	b.Lang = w.lang
	return b, nil
}

// close deletes the last program.
func (w *workshop) close() {
	if w.last != nil {
		w.last.Close()
	}
	w.last = nil
}
