package kata

import (
	"context"
	"fmt"
	"io"
	"time"
	"unicode"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/folder"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// Loop starts the first exercise that is not passed, or resumes the one under way. It checks the
// lock now and on every save, follows an exercise that another terminal starts, and runs a command
// for each key. It returns nil after q and at the end of the keys, and context.Canceled after Ctrl-C.
//
// Keys from a terminal work during a check. Keys from a pipe wait for its end, so that the same keys
// always do the same.
func Loop(ctx context.Context, f folder.Folder, v View, in io.Reader, out io.Writer) error {
	return newLoop(f, v, in, out).open(ctx)
}

// loop is one session of watch mode.
type loop struct {
	runner
	in       io.Reader
	exercise string       // the exercise whose task was printed
	files    string       // the stamp of the files that were checked
	message  i18n.Message // from a start or a reset; printed below the task
	over     bool
	err      error // the result of run
}

func newLoop(f folder.Folder, v View, in io.Reader, out io.Writer) *loop {
	v.Keys = true
	l := &loop{in: in, runner: runner{
		terminal: terminal{out: out, view: v}, folder: f, done: make(chan func()),
		workshop: workshop{root: f.Root, lang: v.Lang},
	}}
	l.workshop.say = func(what i18n.Message) { l.doing.Store(&what) }
	return l
}

func (l *loop) open(ctx context.Context) error {
	p, err := l.folder.Progress()
	if err == nil && p.Exercise == "" {
		l.message, err = l.folder.Start(p.Next(), false)
	}
	if err != nil {
		return err
	}
	keys, err := keyboard.Open(l.in)
	if err != nil {
		return err
	}
	defer keys.Close()
	defer l.workshop.close()
	l.out, l.isPerson = keys.Screen(l.out), keys.IsTerminal()
	return l.run(ctx, keys.C)
}

func (l *loop) run(ctx context.Context, keys <-chan rune) error {
	defer l.stop()
	ticker := time.NewTicker(150 * time.Millisecond)
	defer ticker.Stop()
	l.look(ctx)
	for !l.over {
		l.view.Width = keyboard.Width(l.in, l.view.Width)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			l.look(ctx)
			l.status()
		case show := <-l.done:
			l.finish(show)
		case key, ok := <-keys:
			l.look(ctx) // a file that was saved before the key was pressed is checked first
			if l.cancel != nil && !l.isPerson {
				l.finish(<-l.done)
			}
			if !ok {
				return nil
			}
			l.press(ctx, key)
			l.look(ctx)
		}
	}
	return l.err
}

// look prints the task if an exercise was started, here or in another terminal. It starts a check
// for a new exercise and for a new version of the lock.
func (l *loop) look(ctx context.Context) {
	files := l.folder.Stamp()
	e, _, err := l.folder.Present()
	isNew := err == nil && e.ID != l.exercise
	if !isNew && files == l.files {
		return
	}
	if isNew {
		l.introduce()
	}
	l.exercise, l.files = e.ID, files
	l.check(ctx)
}

// introduce prints the task of a new exercise.
func (l *loop) introduce() {
	if l.isPerson {
		fmt.Fprint(l.out, term.Clear)
	}
	l.say(Task(l.folder, l.view))
	if l.message.Text != "" {
		l.prose(l.message)
	}
	l.message, l.fresh, l.asked = i18n.Message{}, true, false
}

// press runs the command of a key, or answers the open question. It ignores unknown keys, which
// may be parts of an arrow key.
func (l *loop) press(ctx context.Context, key rune) {
	switch {
	case unicode.IsSpace(key) && l.question == nil:
	case key == 'q':
		l.over = true
	case key == keyboard.Interrupt:
		l.over, l.err = true, context.Canceled
	case l.question == nil:
		l.command(ctx, key)
	default:
		l.answer(key)
	}
}

var (
	yesNoKeysText        = i18n.New("y for yes, n for no")
	solutionQuestionText = i18n.New("You have not passed this exercise yet. Show the solution?")
	nextQuestionText     = i18n.New("You have not passed this exercise yet. Go on anyway?")
	resetQuestionText    = i18n.New("Reset? What you wrote is kept.")
	resetKeysText        = i18n.New("1 for this exercise, a for all exercises, n for neither")
)

func (l *loop) command(ctx context.Context, key rune) {
	switch key {
	case 'h':
		l.tell(Hint(l.folder, l.view))
	case 'd':
		l.tell(Diff(l.folder, l.view))
	case 'x':
		l.search(ctx)
	case 'e':
		l.tell(Explain(l.folder, l.view))
	case 's':
		l.unlessPassed(solutionQuestionText, func() { l.tell(Solution(l.folder, l.view)) })
	case 'n':
		l.next()
	case 'l':
		l.tell(Status(l.folder, l.view))
	case 'r':
		l.ask(resetQuestionText, question{"1an", resetKeysText.Args(), func(key rune) { l.started(l.folder.Reset(key == 'a')) }})
	}
}

// unlessPassed asks for confirmation if the exercise is not passed yet.
func (l *loop) unlessPassed(text i18n.Text, do func()) {
	if e, p, err := l.folder.Present(); err == nil && p.HasPassed(e.ID) {
		do()
		return
	}
	l.ask(text, question{"yn", yesNoKeysText.Args(), func(rune) { do() }})
}

// next starts the next exercise.
func (l *loop) next() {
	e, _, _ := l.folder.Present() // without an exercise the first is next
	after, err := e.Next()
	if err != nil {
		l.tell("", err)
		return
	}
	l.unlessPassed(nextQuestionText, func() { l.started(l.folder.Start(after, false)) })
}

// started makes the next look print the task and check the lock, even if neither has changed.
func (l *loop) started(message i18n.Message, err error) {
	if err != nil {
		l.tell("", err)
		return
	}
	l.message, l.exercise = message, ""
}
