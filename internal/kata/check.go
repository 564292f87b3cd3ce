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

// lockName is the learner's lock in the program that judges it.
const lockName = "mylock"

// Result is what one check of the learner's lock has shown.
type Result struct {
	Exercise Exercise
	Progress Progress
	Report   Report
	Passed   bool
}

// Check compiles the learner's lock, judges it and remembers a pass, with a copy
// of the lock that passed. An error is one of the machine's or of the folder's.
func Check(ctx context.Context, f Folder) (Result, error) {
	w := &workshop{}
	defer w.close()
	return check(ctx, f, w)
}

func check(ctx context.Context, f Folder, w *workshop) (Result, error) {
	e, p, err := f.present()
	if err != nil {
		return Result{}, err
	}
	files, err := f.Lock()
	if err != nil {
		return Result{}, err
	}
	r := Result{Exercise: e, Progress: p}
	r.Report, err = judgeFiles(ctx, f.Root, files, e, w)
	if err != nil {
		return r, err
	}
	if r.Passed = r.Report.Passed(e.Required()); !r.Passed {
		return r, nil
	}
	err = f.remember(&r, files)
	return r, err
}

// remember keeps a lock that passed, and that it did. The progress is read once more:
// hints were shown since the check began, or another exercise was.
func (f Folder) remember(r *Result, files Files) (err error) {
	if err := f.put(filepath.Join("_passed", fmt.Sprintf("%02d", r.Exercise.Number)), files); err != nil {
		return err
	}
	if r.Progress, err = f.Progress(); err != nil {
		return err
	}
	r.Progress.pass(r.Exercise.Number)
	return f.save(r.Progress)
}

// judgeFiles compiles a lock and judges it by what the exercise asks for.
func judgeFiles(ctx context.Context, root string, files Files, e Exercise, w *workshop) (Report, error) {
	program, err := w.build(ctx, root, files)
	var wrong *CompileError
	if errors.As(err, &wrong) {
		return Report{Compile: wrong}, nil
	}
	if err != nil {
		return Report{}, err
	}
	return program.Judge(ctx, e.task(lockName))
}

// FindRoot is the repository's folder, as the go command finds it from dir: dir is
// in it, or in a folder that a start has made elsewhere.
func FindRoot(dir string) (string, error) {
	cmd := goCommand(context.Background(), dir, "list", "-m", "-f", "{{.Dir}}", "lockkata")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("the lockkata repository is not here: run this in its folder (%s)", strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("the go command is needed: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Test is the one test beside the learner's lock: it fails with the screen that
// "kata check" shows.
func Test(t *testing.T) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	root, err := FindRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(t.Context(), Folder{Root: root, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if screen := r.Screen(View{Width: 120}); r.Passed {
		t.Log("\n" + screen)
	} else {
		t.Error("\n" + screen)
	}
}

// ToldResult is a result as JSON.
type ToldResult struct {
	Exercise int      `json:"exercise"`
	Title    string   `json:"title"`
	Passed   bool     `json:"passed"`
	Required []string `json:"required"`
	Report
}

// Told returns the result as JSON has it.
func (r Result) Told() ToldResult {
	return ToldResult{r.Exercise.Number, r.Exercise.Title, r.Passed, r.Exercise.Required(), r.Report}
}
