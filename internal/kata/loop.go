package kata

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

// How often the loop looks whether something was saved.
const lookPeriod = 150 * time.Millisecond

// Loop checks the learner's lock now and at each save, and obeys keys, until q,
// the end of the keys, or the end of ctx. From a terminal keys come one by one,
// and are obeyed while a check runs; from a pipe each waits for the check before
// it, so that what is piped always means the same.
func Loop(ctx context.Context, f Folder, v View, in io.Reader, out io.Writer) error {
	return newLoop(f, v, in, out).open(ctx)
}

func newLoop(f Folder, v View, in io.Reader, out io.Writer) *loop {
	v.Keys = true
	return &loop{
		folder: f, view: v, in: in, out: out, now: time.Now, done: make(chan ran, 1), news: make(chan i18n.Message),
		workshop: workshop{root: f.Root, lang: v.Lang},
	}
}

// loop is a session at the keys.
type loop struct {
	folder   Folder
	view     View
	in       io.Reader
	out      io.Writer
	terminal bool

	now func() time.Time

	seen     string // the lock's files as they were at the last look
	workshop workshop
	cancel   context.CancelFunc // ends what is under way; nil if nothing is
	done     chan ran
	news     chan i18n.Message // what is being done now
	doing    i18n.Message      // the last of it
	since    time.Time         // when it was begun
	shown    func(View) string // what is on the screen; nil before the first result
	question *question         // what waits for an answer; nil if nothing does
	asked    string            // the exercise whose prediction was shown
	fresh    bool              // the exercise has just begun, and its story is on the screen
	over     bool
}

// ran is a check or a search that has ended.
type ran struct {
	checked  Result
	explored *Explored // nil: it was a check
	err      error
}

func (l *loop) open(ctx context.Context) error {
	if _, _, err := l.folder.present(); err != nil {
		return err
	}
	keys, err := keyboard.Open(l.in)
	if err != nil {
		return err
	}
	defer keys.Close()
	defer l.workshop.close()
	l.out, l.terminal = keys.Screen(l.out), keys.IsTerminal()
	return l.run(ctx, keysOf(keys))
}

func keysOf(k *keyboard.Keyboard) <-chan rune {
	keys := make(chan rune)
	go func() {
		defer close(keys)
		for {
			key, err := k.Next()
			if err != nil {
				return
			}
			keys <- key
		}
	}()
	return keys
}

func (l *loop) run(ctx context.Context, keys <-chan rune) error {
	ctx, stop := context.WithCancel(ctx)
	defer l.end(stop)
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	l.say(l.folder.Task(l.view))
	l.fresh = true
	l.look(ctx)
	var waiting []rune
	for !l.over {
		from := keys
		if l.cancel != nil && !l.terminal {
			from = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			l.look(ctx)
			l.status()
		case l.doing = <-l.news:
			l.status()
		case c := <-l.done:
			l.show(c)
		case key, ok := <-from:
			if !ok {
				return nil
			}
			l.look(ctx) // what was saved before the key was pressed comes first
			waiting = append(waiting, key)
		}
		for len(waiting) > 0 && !l.over && (l.cancel == nil || l.terminal) {
			l.press(ctx, waiting[0])
			waiting = waiting[1:]
			l.look(ctx)
		}
	}
	return nil
}

// end ends the check under way, so that it leaves nothing behind.
func (l *loop) end(stop func()) {
	stop()
	if l.cancel != nil {
		<-l.done
	}
}

// event is what a run has begun with, in a line that says nothing more yet, and in one that
// says what is being done.
type event struct{ alone, at i18n.Text }

var (
	saved        = event{i18n.New("saved"), i18n.New("saved {time}: {doing}")}
	begun        = event{i18n.New("begun"), i18n.New("begun {time}: {doing}")}
	isRun        = i18n.New("Your lock is being run: press x when that is over.")
	searchBegins = i18n.New("Searching the schedules of your lock, for {time} at the most for each environment; a save ends it.")
	forSeconds   = i18n.New("{doing}, {n} s")
)

// look begins a check if the lock's files are not those of the last look.
func (l *loop) look(ctx context.Context) {
	now := l.folder.stamp()
	if now == l.seen {
		return
	}
	why := saved
	if l.seen == "" {
		why = begun
	}
	l.seen = now
	l.start(ctx, why, func(ctx context.Context) ran {
		result, err := l.workshop.check(ctx, l.folder)
		return ran{checked: result, err: err}
	})
}

// search begins a search.
func (l *loop) search(ctx context.Context) {
	if l.cancel != nil {
		fmt.Fprintln(l.out, l.view.say(isRun))
		return
	}
	fmt.Fprintln(l.out, l.view.say(searchBegins, "time", searchLimit))
	l.start(ctx, begun, func(ctx context.Context) ran {
		found, err := l.workshop.explore(ctx, l.folder, Exploring{Bound: -1})
		return ran{explored: &found, err: err}
	})
}

// start starts a run of the lock, in place of the one under way. The old result stays on the
// screen, dimmed, with a line below it that says what is being done.
func (l *loop) start(ctx context.Context, why event, work func(context.Context) ran) {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
	working, cancel := context.WithCancel(ctx)
	l.cancel, l.since = cancel, l.now()
	l.doing = why.alone.Args()
	l.workshop.say = func(what i18n.Message) {
		select {
		case l.news <- why.at.Args("time", l.since.Format(time.TimeOnly), "doing", what):
		case <-working.Done():
		}
	}
	if l.terminal && !l.fresh && l.shown != nil {
		l.fit()
		plain := l.view
		plain.Color = false
		fmt.Fprint(l.out, term.Clear)
		for line := range strings.Lines(l.shown(plain)) {
			fmt.Fprint(l.out, l.view.line(term.Dim, strings.TrimSuffix(line, "\n")))
		}
	}
	l.status()
	go func() { l.done <- work(working) }()
}

// status writes, for a person at a terminal, what is being done and for how long.
func (l *loop) status() {
	if l.cancel == nil || !l.terminal {
		return
	}
	doing := l.doing
	if seconds := int(l.now().Sub(l.since).Seconds()); seconds > 1 {
		doing = forSeconds.Args("doing", doing, "n", seconds)
	}
	fmt.Fprint(l.out, term.EraseLine+term.Clip(doing.Localize(l.view.Lang), l.view.Width))
}

// stamp is the same as long as nothing is saved.
func (f Folder) stamp() string {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err.Error()
	}
	stamp := ""
	for _, entry := range entries {
		if !isLock(entry.Name()) {
			continue
		}
		if info, err := os.Stat(f.path(entry.Name())); err == nil {
			stamp += fmt.Sprintf("%s %d %d\n", entry.Name(), info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamp
}

// show shows what a check has found, and asks for a prediction after a pass.
func (l *loop) show(c ran) {
	l.fit()
	l.cancel()
	l.cancel, l.question = nil, nil
	switch {
	case c.err != nil:
		l.shown = func(v View) string { return i18n.Words(c.err, v.Lang) + "\n" }
	case c.explored != nil:
		l.shown = c.explored.Screen
	default:
		l.shown = c.checked.Screen
	}
	switch {
	case l.terminal && l.fresh:
		fmt.Fprint(l.out, term.EraseLine)
	case l.terminal:
		fmt.Fprint(l.out, term.Clear)
	}
	l.fresh = false
	fmt.Fprintln(l.out)
	if c.err == nil && c.explored == nil && c.checked.Passed && l.asked != c.checked.Exercise.ID && l.predict(c.checked) {
		return
	}
	fmt.Fprint(l.out, l.shown(l.view))
	l.bar()
}

// fit makes what is drawn as wide as the terminal is now.
func (l *loop) fit() { l.view.Width = keyboard.Width(l.in, l.view.Width) }

var keysAre = i18n.New("h hint  d diff  x explore  e why  s solution  n next  l list  r reset  q quit")

// bar is the line that says what to press.
func (l *loop) bar() {
	fmt.Fprint(l.out, "\n"+l.view.line(term.Dim, l.view.say(keysAre)))
}

// say prints a text, or the error in its place.
func (l *loop) say(text string, err error) {
	if err != nil {
		text = i18n.Words(err, l.view.Lang) + "\n"
	}
	fmt.Fprint(l.out, text)
}

// tell says it, and what to press.
func (l *loop) tell(text string, err error) {
	l.say(text, err)
	l.bar()
}
