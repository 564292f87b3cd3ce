package kata

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// Result is what one check of the learner's lock has shown.
type Result struct {
	Exercise Exercise
	Report   Report
	Passed   bool
}

// Check compiles the learner's lock, judges it and remembers a pass, with a copy
// of the lock that passed. say is told what it is doing. What is said of the lock is in that
// language. An error is one of the machine's or of the folder's.
func Check(ctx context.Context, f Folder, lang i18n.Language, say func(i18n.Message)) (Result, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.check(ctx, f)
}

func (w *workshop) check(ctx context.Context, f Folder) (r Result, err error) {
	if r.Exercise, _, err = f.present(); err != nil {
		return r, err
	}
	files, err := f.Lock()
	if err != nil {
		return r, err
	}
	program, err := w.program(ctx, files)
	if err == nil {
		r.Report, err = w.examine(ctx, program, files, r.Exercise)
	}
	if errors.As(err, &r.Report.Compile) {
		return r, nil
	}
	if r.Passed = err == nil && r.Exercise.passed(r.Report); r.Passed {
		err = f.remember(r.Exercise.ID, files)
	}
	return r, err
}

// enoughSchedules is how many schedules of each question a lock has to survive before it
// passes. A number, not a time: the same lock passes on each machine.
const enoughSchedules = 1000

// What a check does.
var (
	playing    = i18n.New("failure {n} of {all}")
	playingAll = i18n.New("playing {n} failures")
	searching  = i18n.New("searching its schedules")
)

// examine plays the failures, and where those that are asked for are survived, searches
// the schedules for what our own lock survives.
func (w *workshop) examine(ctx context.Context, program *Program, files Files, e Exercise) (Report, error) {
	report, err := program.judge(ctx, files, w.task(e), func(played int) { w.tell(playing.Args("n", played, "all", len(failures.All))) })
	if err != nil || !report.Passed(e.Required()) {
		return report, err
	}
	questions, err := Exploring{Bound: -1}.questions(e.Search)
	if err != nil {
		return report, err
	}
	w.tell(searching.Args())
	searched, err := program.search(ctx, files, w.task(e), ofTwoClients(questions), enoughSchedules)
	report.Found, report.Cause = searched.Found, cmp.Or(searched.Cause, report.Cause)
	return report, err
}

// passed tells whether a lock does all that the exercise asks for.
func (e Exercise) passed(r Report) bool {
	return r.Passed(e.Required()) && len(e.mistakes(r.Found)) == 0
}

// mistakes are what a search has found that our own lock survives, the cheapest first. What
// counts is the cost, not the steps: a lock with fewer commands needs fewer of those.
func (e Exercise) mistakes(all []judge.Found) []judge.Found {
	return slices.DeleteFunc(shortest(e, all), func(f judge.Found) bool {
		ours := e.lesson(f)
		return ours.Found && f.Cost >= ours.Cost
	})
}

// remember keeps a lock that passed, and that it did. The progress is read once more:
// hints were shown since the check began, or another exercise was.
func (f Folder) remember(id string, files Files) error {
	if err := f.put(passed(id), files); err != nil {
		return err
	}
	p, err := f.Progress()
	if err != nil {
		return err
	}
	p.pass(id)
	return f.save(p)
}

var (
	notHere = i18n.New("the lockkata repository is not here: run this in its folder ({why})")
	needsGo = i18n.New("the go command is needed: {why}")
)

// FindRoot is the repository's folder, as the go command finds it from dir: dir is
// in it, or in a folder that a start has made elsewhere.
func FindRoot(dir string) (string, error) {
	out, err := goCommand(context.Background(), dir, "list", "-m", "-f", "{{.Dir}}", "lockkata").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", notHere.Args("why", strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", needsGo.Args("why", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Test is the one test beside the learner's lock: it fails with the screen that
// "kata check" shows.
func Test(t *testing.T) {
	t.Helper()
	lang := i18n.OfEnvironment(os.Getenv)
	r, err := checkHere(t.Context(), lang)
	switch screen := r.Screen(View{Width: 120, Lang: lang}); {
	case err != nil:
		t.Fatal(err)
	case r.Passed:
		t.Log("\n" + screen)
	default:
		t.Error("\n" + screen)
	}
}

func checkHere(ctx context.Context, lang i18n.Language) (r Result, err error) {
	dir, err := filepath.Abs(".")
	if err != nil {
		return r, err
	}
	root, err := FindRoot(dir)
	if err != nil {
		return r, err
	}
	return Check(ctx, Folder{Root: root, Dir: dir}, lang, nil)
}

// Told is the result as JSON has it.
func (r Result) Told() any {
	return struct {
		Exercise string   `json:"exercise"`
		Title    string   `json:"title"`
		Passed   bool     `json:"passed"`
		Required []string `json:"required"`
		Report
	}{r.Exercise.ID, r.Exercise.Text(i18n.English).Title, r.Passed, r.Exercise.Required(), r.Report}
}
