package playground

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/texts"
)

// written is a lock that a visitor wrote.
type written struct {
	files map[string]string
	lock  *interpreter.Lock
	line  func(goroutine uint64) (world.Source, bool)
	sent  atomic.Pointer[command] // the newest
}

// command is one that the lock sent, at a moment of its world.
type command struct {
	line world.Source
	at   time.Time
}

// problems are why a lock that a visitor wrote does not run, or does not go on.
type problems []interpreter.Problem

// Error is the first one.
func (p problems) Error() string { return p[0].Error() }

// In is the first one in a language, but for what Go's type checker says.
func (p problems) In(l texts.Language) string { return p.all(l)[0].Error() }

// all are the problems in a language.
func (p problems) all(l texts.Language) (said problems) {
	for _, one := range p {
		said = append(said, one.In(l))
	}
	return said
}

func problemsOf(err error) problems {
	var all problems
	errors.As(err, &all)
	return all
}

// write puts a lock that a visitor wrote into the place of a column's. It has what the
// column has, and a name of its own.
func (l *locks) write(c *columns.Column, files map[string]string) (timeline.Code, error) {
	code := timeline.Code{Dir: c.Dir}
	source := []string{c.ID}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		source = append(source, name, files[name])
		if path.Ext(name) == ".go" {
			code.Files = append(code.Files, timeline.File{Name: name, Text: files[name]})
		}
	}
	if l.written == nil || !maps.Equal(l.written.files, files) {
		l.written = nil // whatever becomes of the new one
		lock, wrong := interpreter.Load(path.Base(c.Dir), files)
		if len(wrong) > 0 {
			return code, problems(wrong)
		}
		l.written = &written{files: files, lock: lock}
	}
	mine := l.written.lock.Subject(schedule.ForeignName(c.Subject.Name, source...), c.Subject.Has...)
	mine.Line = l.written.follow(mine.Line)
	if mine.Ignore = c.Subject.Ignore; mine.Ignore == nil {
		mine.Ignore = failures.IsBeside
	}
	c.Subject = mine
	return code, nil
}

// rehearse finds out which scripts a lock uses, and which keys stand beside one that a visitor
// wrote.
func (l *locks) rehearse(s failures.Subject) (failures.Subject, error) {
	s, err := failures.DiscoverScripts(l.t, s)
	if err != nil && l.written != nil {
		return s, noDay(err, s.Line)
	}
	if err != nil || l.written == nil {
		return s, err
	}
	day, _ := failures.Find("second-client")
	s = s.Ignoring(failures.KeysBeside(failures.Run(l.t, day, s).Trace))
	interpreter.Printed.Take() // what is printed here belongs to nothing that was asked
	return s, nil
}

var (
	dayFails = texts.New("Your lock does not survive an ordinary day: {why}")
	isLeft   = texts.New("when an ordinary day is over, a goroutine of the lock is left here ({state})")
)

// noDay is why a lock that a visitor wrote does not get through an ordinary day: the lines at
// which it still stands, where it left goroutines.
func noDay(err error, line func(goroutine uint64) (world.Source, bool)) error {
	if !errors.Is(err, world.ErrLeft) {
		return dayFails.With("why", errors.Unwrap(err).Error())
	}
	var all problems
	for _, standing := range world.Standing(line) { // mine/mutex.go:41 (sync.Mutex.Lock)
		place, state, _ := strings.Cut(strings.TrimSuffix(standing, ")"), " (")
		file, number, _ := strings.Cut(path.Base(place), ":")
		n, _ := strconv.Atoi(number) // digits, says Standing
		all = append(all, interpreter.ProblemAt(file, n, isLeft.With("state", state)))
	}
	if len(all) == 0 {
		return dayFails.With("why", errors.Unwrap(err).Error())
	}
	return all
}

// follow notes when a command is sent, which is when its line is asked for.
func (w *written) follow(line func(uint64) (world.Source, bool)) func(uint64) (world.Source, bool) {
	w.line = line
	return func(goroutine uint64) (world.Source, bool) {
		at, ok := line(goroutine)
		if ok && at.File != "" {
			w.sent.Store(&command{at, time.Now()})
		}
		return at, ok
	}
}

// trouble is why the lock that a visitor wrote was stopped: nothing that was found then is
// told. It begins anew with the next request.
func (l *locks) trouble() error {
	if l.written == nil || l.written.lock.Trouble() == nil {
		return nil
	}
	trouble := *l.written.lock.Trouble()
	l.written = nil
	return problems{trouble}
}
