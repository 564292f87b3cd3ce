package kata

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Result is what one check of the learner's lock has shown.
type Result struct {
	Exercise Exercise
	Report   Report
	Passed   bool
}

// Check compiles the learner's lock, judges it and remembers a pass, with a copy
// of the lock that passed. An error is one of the machine's or of the folder's.
func Check(ctx context.Context, f Folder) (Result, error) {
	w := workshop{root: f.Root}
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
		r.Report, err = program.Judge(ctx, files, r.Exercise.task())
	}
	if errors.As(err, &r.Report.Compile) {
		return r, nil
	}
	if r.Passed = err == nil && r.Report.Passed(r.Exercise.Required()); r.Passed {
		err = f.remember(r.Exercise.Number, files)
	}
	return r, err
}

// remember keeps a lock that passed, and that it did. The progress is read once more:
// hints were shown since the check began, or another exercise was.
func (f Folder) remember(number int, files Files) error {
	if err := f.put(passed(number), files); err != nil {
		return err
	}
	p, err := f.Progress()
	if err != nil {
		return err
	}
	p.pass(number)
	return f.save(p)
}

// FindRoot is the repository's folder, as the go command finds it from dir: dir is
// in it, or in a folder that a start has made elsewhere.
func FindRoot(dir string) (string, error) {
	out, err := goCommand(context.Background(), dir, "list", "-m", "-f", "{{.Dir}}", "lockkata").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("the lockkata repository is not here: run this in its folder (%s)", strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("the go command is needed: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Test is the one test beside the learner's lock: it fails with the screen that
// "kata check" shows.
func Test(t *testing.T) {
	t.Helper()
	r, err := checkHere(t.Context())
	switch screen := r.Screen(View{Width: 120}); {
	case err != nil:
		t.Fatal(err)
	case r.Passed:
		t.Log("\n" + screen)
	default:
		t.Error("\n" + screen)
	}
}

func checkHere(ctx context.Context) (r Result, err error) {
	dir, err := filepath.Abs(".")
	if err != nil {
		return r, err
	}
	root, err := FindRoot(dir)
	if err != nil {
		return r, err
	}
	return Check(ctx, Folder{Root: root, Dir: dir})
}

// Told is the result as JSON has it.
func (r Result) Told() any {
	return struct {
		Exercise int      `json:"exercise"`
		Title    string   `json:"title"`
		Passed   bool     `json:"passed"`
		Required []string `json:"required"`
		Report
	}{r.Exercise.Number, r.Exercise.Title, r.Passed, r.Exercise.Required(), r.Report}
}
