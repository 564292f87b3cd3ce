package kata

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
)

// Result is the result of a check of the learner's lock.
type Result struct {
	Exercise Exercise
	Folder   Folder
	Report   apart.Report
	Passed   bool
	Progress Progress // at the end of the check
}

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

// Progress of a workshop.
var (
	compiling = i18n.New("compiling your lock")
	playing   = i18n.New("failure {n} of {all}")
	searching = i18n.New("searching its schedules")
)

// bench returns the bench of a lock.
func (w *workshop) bench(ctx context.Context, l apart.Lock) (*apart.Bench, error) {
	for _, p := range []*apart.Program{w.ready, w.last} {
		if p.Plays(l) {
			return w.benchIn(p, l), nil
		}
	}
	w.close()
	w.say(compiling.Args())
	p, err := apart.Build(ctx, w.root, l)
	if err != nil {
		return nil, err
	}
	w.last = p
	return w.benchIn(p, l), nil
}

func (w *workshop) benchIn(p *apart.Program, l apart.Lock) *apart.Bench {
	b := p.Bench(l)
	b.Lang = w.lang
	return b
}

// close deletes the last program.
func (w *workshop) close() {
	if w.last != nil {
		w.last.Close()
	}
	w.last = nil
}

// Check compiles the learner's lock, judges it and records a pass, with a copy of the lock. say gets
// the progress. Texts about the lock are in lang. An error is about the machine or the folder, not
// about the lock.
func Check(ctx context.Context, f Folder, lang i18n.Language, say func(i18n.Message)) (Result, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.check(ctx, f)
}

func (w *workshop) check(ctx context.Context, f Folder) (r Result, err error) {
	r.Folder = f
	if r.Exercise, _, err = f.present(); err != nil {
		return r, err
	}
	files, err := f.Lock()
	if err != nil {
		return r, err
	}
	if _, err := f.keep(files); err != nil {
		return r, err
	}
	bench, err := w.bench(ctx, r.Exercise.lockOf(files))
	if err == nil {
		r.Report, err = w.examine(ctx, bench, r.Exercise)
	}
	if errors.As(err, &r.Report.Compile) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Passed = r.Exercise.passed(r.Report)
	r.Progress, err = f.remember(r, files)
	return r, err
}

// enoughSchedules is how many schedules of each question a lock must survive to pass. It is not a
// time limit, so that a lock passes on every machine or on none.
const enoughSchedules = 4000

// examine plays the failures. If the lock survives the required ones, examine also searches for
// schedules that break it and not our own lock.
func (w *workshop) examine(ctx context.Context, bench *apart.Bench, e Exercise) (apart.Report, error) {
	o, most := apart.OrderOf(e.Required()), enoughSchedules
	o.Draw = []string{e.Predict.Failure}
	if w.brief {
		o.Failures, most = append(e.Required(), e.Predict.Failure), enoughSchedules/80
	}
	o.Played = func(n, all int) { w.say(playing.Args("n", n, "all", all)) }
	report, err := bench.Judge(ctx, o)
	if err != nil || !e.survives(report) {
		return report, err
	}
	w.say(searching.Args())
	searched, err := bench.Ask(ctx, inquiries(ofTwoClients(Sought{Bound: -1}.questions(e.Search)), most))
	report.Found, report.Differs, report.Cause = searched.Found, searched.Differs, searched.Cause
	return report, err
}

// lockOf returns a lock that is to solve the exercise.
func (e Exercise) lockOf(files apart.Files) apart.Lock {
	return apart.Lock{Files: files, Has: stageOf(e.Lock).Subject.Has, Exercise: e.ID, Requires: e.Required()}
}

// red returns the failures that keep a lock from passing, the clearest first: runs that did not end,
// which name a line, and basic ones; then the exercise's own, shortest drawing first; then the others;
// then those of normal use; leaked goroutines last.
func (e Exercise) red(r apart.Report) []failures.Cell {
	red := slices.DeleteFunc(slices.Clone(r.Verdicts), func(c failures.Cell) bool { return !c.Required || c.Passes() && c.Cause == nil })
	slices.SortStableFunc(red, func(a, b failures.Cell) int {
		return cmp.Or(cmp.Compare(e.rank(a), e.rank(b)), cmp.Compare(length(a), length(b)))
	})
	return red
}

func (e Exercise) rank(c failures.Cell) int {
	switch {
	case c.Cause != nil && c.Cause.Kind == guard.TimeUp:
		return 4
	case c.Cause != nil && !c.Cause.IsLeft() || c.BreaksBasic():
		return 0
	case c.Passes():
		return 4
	case c.Failure.Family == catalogue.Normal:
		return 3
	case slices.Contains(e.Fixes, c.Failure.ID):
		return 1
	}
	return 2
}

// length returns the number of events in a drawing of the failure; 0 for a basic one, since these keep
// their order. A broken failure without a trace has too many events to be drawn.
func length(c failures.Cell) int {
	switch {
	case c.BreaksBasic():
		return 0
	case c.Trace != nil:
		return len(c.Trace.Events)
	case c.Outcome == failures.Broken:
		return math.MaxInt
	}
	return 0
}

// survives reports whether the lock survives every required failure. A failure that was not tested
// does not count.
func (e Exercise) survives(r apart.Report) bool {
	played := func(id string) bool { return r.Verdict(id).Failure.ID != "" }
	return r.Compile == nil && r.Cause == nil && len(e.red(r)) == 0 &&
		!slices.ContainsFunc(e.Required(), func(id string) bool { return !played(id) })
}

// passed reports whether a lock meets all requirements of the exercise.
func (e Exercise) passed(r apart.Report) bool { return e.survives(r) && len(e.mistakes(r.Found)) == 0 }

// mistakes returns the findings of a search that our own lock does not have, cheapest first. It
// compares faults and not steps: a lock with fewer commands has shorter schedules.
func (e Exercise) mistakes(all []schedule.Found) []schedule.Found {
	return slices.DeleteFunc(shortest(e, all), func(f schedule.Found) bool {
		ours := e.lesson(f)
		return ours.Found && f.Cost >= ours.Cost
	})
}

// remember records a pass with a copy of the lock, or the failure that was shown. It reads the
// progress again, because a hint or another exercise may have changed it during the check.
func (f Folder) remember(r Result, files apart.Files) (p Progress, err error) {
	if r.Passed {
		err = f.put(passed(r.Exercise.ID), files)
	}
	if err == nil {
		p, err = f.Progress()
	}
	if err != nil {
		return p, err
	}
	if red := r.Exercise.red(r.Report); p.Exercise == r.Exercise.ID {
		p.Failed = append(red, failures.Cell{})[0].Failure.ID
	}
	if r.Passed {
		p.pass(r.Exercise.ID)
	}
	return p, f.save(p)
}

// ForJSON returns the result for JSON.
func (r Result) ForJSON() any {
	return struct {
		Exercise string   `json:"exercise"`
		Title    string   `json:"title"`
		Passed   bool     `json:"passed"`
		Required []string `json:"required"`
		apart.Report
	}{r.Exercise.ID, r.Exercise.Text(i18n.English).Title, r.Passed, r.Exercise.Required(), r.Report}
}
