package kata

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// Loop starts the first exercise that is not passed, or resumes the one under way. It checks the
// lock now and on every save, follows an exercise that another terminal starts, and runs a command
// for each key. It returns nil after q and at the end of the keys, and context.Canceled after Ctrl-C.
//
// Keys from a terminal work during a check. Keys from a pipe wait for its end, so that the same keys
// always do the same.
func Loop(ctx context.Context, f Folder, v View, in io.Reader, out io.Writer) error {
	return newLoop(f, v, in, out).open(ctx)
}

func newLoop(f Folder, v View, in io.Reader, out io.Writer) *loop {
	v.Keys = true
	l := &loop{
		folder: f, view: v, in: in, out: out, done: make(chan func()),
		workshop: workshop{root: f.Root, lang: v.Lang},
	}
	l.workshop.say = func(what i18n.Message) { l.doing.Store(&what) }
	return l
}

// loop is one session of watch mode.
type loop struct {
	folder   Folder
	view     View
	in       io.Reader
	out      io.Writer
	terminal bool

	exercise string       // the exercise whose task was printed
	files    string       // the stamp of the files that were checked
	message  i18n.Message // from a start or a reset; printed below the task
	fresh    bool         // the task is on the screen, and no result yet

	workshop workshop
	cancel   context.CancelFunc // cancels the run under way; nil between runs
	done     chan func()        // delivers the function that shows the run's result
	doing    atomic.Pointer[i18n.Message]
	since    time.Time

	question *question // nil if none is open
	asked    bool      // the prediction of the exercise was asked
	over     bool
	err      error // the result of run
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
	l.out, l.terminal = keys.Screen(l.out), keys.IsTerminal()
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
			if l.cancel != nil && !l.terminal {
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

// stop cancels the run under way, waits for its end, and moves the cursor below the status line.
func (l *loop) stop() {
	if l.cancel == nil {
		return
	}
	l.cancel()
	<-l.done
	fmt.Fprintln(l.out)
}

// look prints the task if an exercise was started, here or in another terminal. It starts a check
// for a new exercise and for a new version of the lock.
func (l *loop) look(ctx context.Context) {
	files := l.folder.stamp()
	e, _, err := l.folder.present()
	isNew := err == nil && e.ID != l.exercise
	if !isNew && files == l.files {
		return
	}
	if isNew {
		l.introduce()
	}
	l.exercise, l.files = e.ID, files
	l.start(ctx, func(ctx context.Context) func() {
		r, err := l.workshop.check(ctx, l.folder)
		return func() { l.checked(r, err) }
	})
}

// introduce prints the task of a new exercise.
func (l *loop) introduce() {
	if l.terminal {
		fmt.Fprint(l.out, term.Clear)
	}
	l.say(l.folder.Task(l.view))
	if l.message.Text != "" {
		l.prose(l.message)
	}
	l.message, l.fresh, l.asked = i18n.Message{}, true, false
}

// search starts a search, unless the lock is running.
func (l *loop) search(ctx context.Context) {
	if l.cancel != nil {
		return
	}
	l.start(ctx, func(ctx context.Context) func() {
		x, err := l.workshop.explore(ctx, l.folder, Sought{Bound: -1})
		return func() { l.show(x.Screen, err) }
	})
}

var checking = i18n.New("checking your lock")

// start runs the lock in the background, in place of the run under way. The function that work
// returns shows the result.
func (l *loop) start(ctx context.Context, work func(context.Context) func()) {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
	ctx, l.cancel = context.WithCancel(ctx)
	l.since = time.Now()
	l.workshop.say(checking.Args())
	l.status()
	go func() { l.done <- work(ctx) }()
}

// status writes, on a terminal, what is being done and for how long.
func (l *loop) status() {
	if l.cancel == nil || !l.terminal {
		return
	}
	line := fmt.Sprintf("%s  %.0f s", l.doing.Load().Localize(l.view.Lang), time.Since(l.since).Seconds())
	fmt.Fprint(l.out, term.EraseLine+term.Clip(line, l.view.Width))
}

// stamp changes with every save of a file of the lock.
func (f Folder) stamp() (stamp string) {
	entries, _ := os.ReadDir(f.Dir) // the check reports the error
	for _, entry := range entries {
		info, err := os.Stat(f.path(entry.Name()))
		if err == nil && stages.IsLock(entry.Name()) {
			stamp += fmt.Sprintln(entry.Name(), info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamp
}

// finish ends a run and shows its result.
func (l *loop) finish(show func()) {
	l.cancel()
	l.cancel, l.question = nil, nil
	show()
}

// checked shows the result of a check. The first pass of an exercise asks for a prediction.
func (l *loop) checked(r Result, err error) {
	prediction, fits := r.predict(l.view.Lang)
	if err != nil || !r.Passed || !fits || l.asked {
		l.show(r.Screen, err)
		return
	}
	l.asked = true
	l.predict(r, prediction)
}

// show shows a screen, or the error in its place, and the keys.
func (l *loop) show(screen func(View) string, err error) {
	text := ""
	if err == nil {
		text = screen(l.view)
	}
	l.draw(text, err)
	l.bar()
}

// draw replaces what a terminal shows, except a task without a result.
func (l *loop) draw(text string, err error) {
	if l.terminal && !l.fresh {
		fmt.Fprint(l.out, term.Clear)
	}
	l.fresh = false
	l.say("\n"+text, err)
}

// say prints a text, or the error in its place, instead of a status line.
func (l *loop) say(text string, err error) {
	if err != nil {
		text = i18n.Words(err, l.view.Lang) + "\n"
	}
	if l.terminal {
		text = term.EraseLine + text
	}
	fmt.Fprint(l.out, text)
}

// prose prints sentences.
func (l *loop) prose(text i18n.Message) {
	l.say(l.view.wrapped(text.Localize(l.view.Lang)), nil)
}
