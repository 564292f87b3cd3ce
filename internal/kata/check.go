// Package kata lets a learner write a lock, and plays the failures on it.
//
// [Check] compiles the lock in a learner's folder, runs it in another process and returns a [CheckResult].
// [Search] looks for schedules that break it. [Loop] is watch mode. The exercises and the folder are packages
// of their own.
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
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
)

// CheckResult is the result of a check of the learner's lock.
type CheckResult struct {
	Exercise exercises.Exercise
	Folder   folder.Folder
	Report   apart.Report
	Passed   bool
	Progress folder.Progress // at the end of the check
}

// Check compiles the learner's lock, judges it and records a pass, with a copy of the lock. say gets
// the progress. Texts about the lock are in lang. An error is about the machine or the folder, not
// about the lock.
func Check(ctx context.Context, f folder.Folder, lang i18n.Language, say func(i18n.Message)) (CheckResult, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.check(ctx, f)
}

func (w *workshop) check(ctx context.Context, f folder.Folder) (r CheckResult, err error) {
	r.Folder = f
	if r.Exercise, _, err = f.Present(); err != nil {
		return r, err
	}
	files, err := f.Lock()
	if err != nil {
		return r, err
	}
	if _, err := f.Keep(files); err != nil {
		return r, err
	}
	bench, err := w.bench(ctx, r.Exercise.LockOf(files))
	if err == nil {
		err = w.examine(ctx, bench, &r)
	}
	if errors.As(err, &r.Report.Compile) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	failed := append(r.red(), failures.Cell{})[0].Failure.ID
	r.Progress, err = f.Record(r.Exercise.ID, files, r.Passed, failed)
	return r, err
}

// enoughSchedules is how many schedules of each question a lock must survive to pass. It is not a
// time limit, so that a lock passes on every machine or on none.
const enoughSchedules = 4000

var (
	failureCountText = i18n.New("failure {n} of {all}")
	searchText       = i18n.New("searching its schedules")
)

// examine plays the failures. If the lock survives the required ones, examine also searches for
// schedules that break it and not our own lock.
func (w *workshop) examine(ctx context.Context, bench *apart.Bench, r *CheckResult) (err error) {
	e := r.Exercise
	o, most := apart.OrderOf(e.Required()), enoughSchedules
	o.Draw = []string{e.Predict.Failure}
	if w.brief {
		o.Failures, most = append(e.Required(), e.Predict.Failure), enoughSchedules/80
	}
	o.Played = func(n, all int) { w.say(failureCountText.Args("n", n, "all", all)) }
	if r.Report, err = bench.Judge(ctx, o); err != nil || !r.survives() {
		return err
	}
	w.say(searchText.Args())
	searched, err := bench.Ask(ctx, inquiries(ofTwoClients(questions(exercises.Query{Bound: -1}, e.Search)), most))
	r.Report.Found, r.Report.Differs, r.Report.Cause = searched.Found, searched.Differs, searched.Cause
	r.Passed = err == nil && r.survives() && len(r.mistakes()) == 0
	return err
}

// red returns the failures that keep a lock from passing, the clearest first: runs that did not end,
// which name a line, and basic ones; then the exercise's own, or those of the root, shortest drawing first; then the others, and
// methods that are not written yet; then those of normal use; leaked goroutines last.
func (r CheckResult) red() []failures.Cell {
	red := slices.DeleteFunc(slices.Clone(r.Report.Verdicts), func(c failures.Cell) bool { return !c.Required || c.Passes() && c.Cause == nil })
	root := r.root(red)
	slices.SortStableFunc(red, func(a, b failures.Cell) int {
		return cmp.Or(cmp.Compare(r.rank(a, root), r.rank(b, root)), cmp.Compare(length(a), length(b)))
	})
	return red
}

// several is how many failures have to break one rule before it says more about a lock than the exercise's own failures.
const several = 4

// root returns the rule that more than half of the failures break, all from exercises before: the mistake is in what the
// lock could already do. It returns "" if there is no such rule.
func (r CheckResult) root(red []failures.Cell) (root oracle.Rule) {
	count := map[oracle.Rule]int{}
	for _, c := range red {
		if against, isBroken := c.Against(); isBroken && !slices.Contains(r.Exercise.Fixes, c.Failure.ID) {
			if count[against.Rule]++; count[against.Rule] >= several && 2*count[against.Rule] > len(red) {
				root = against.Rule
			}
		}
	}
	return root
}

func (r CheckResult) rank(c failures.Cell, root oracle.Rule) int {
	against, _ := c.Against()
	switch {
	case c.Cause != nil && c.Cause.Kind == guard.TimeUp:
		return 4
	case c.Cause != nil && c.Cause.Kind == guard.Lacks:
		return 2
	case c.Cause != nil && !c.Cause.IsLeft() || c.BreaksBasic():
		return 0
	case c.Passes():
		return 4
	case c.Failure.Family == catalogue.Normal:
		return 3
	case root != "" && against.Rule == root || root == "" && slices.Contains(r.Exercise.Fixes, c.Failure.ID):
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
func (r CheckResult) survives() bool {
	played := func(id string) bool { return r.Report.Verdict(id).Failure.ID != "" }
	return r.Report.Compile == nil && r.Report.Cause == nil && len(r.red()) == 0 &&
		!slices.ContainsFunc(r.Exercise.Required(), func(id string) bool { return !played(id) })
}

// mistakes returns the findings of a search that our own lock does not have, cheapest first. It
// compares faults and not steps: a lock with fewer commands has shorter schedules.
func (r CheckResult) mistakes() []schedule.Found {
	return slices.DeleteFunc(shortest(r.Exercise, r.Report.Found), func(f schedule.Found) bool {
		our := ours(r.Exercise, f)
		return our.Found && f.Cost >= our.Cost
	})
}

// ForJSON returns the result for JSON.
func (r CheckResult) ForJSON() any {
	return struct {
		Exercise string   `json:"exercise"`
		Title    string   `json:"title"`
		Passed   bool     `json:"passed"`
		Required []string `json:"required"`
		apart.Report
	}{r.Exercise.ID, r.Exercise.Text(i18n.English).Title, r.Passed, r.Exercise.Required(), r.Report}
}
