package kata

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
	"lockkata/internal/term"
)

// runner runs the learner's lock in the background, one run at a time, and shows the results.
type runner struct {
	terminal
	folder   folder.Folder
	workshop workshop
	cancel   context.CancelFunc // cancels the run under way; nil between runs
	done     chan func()        // delivers the function that shows the run's result
	doing    atomic.Pointer[i18n.Message]
	since    time.Time
	asked    bool // the prediction of the exercise was asked
}

var checkText = i18n.New("checking your lock")

// start starts a run, in place of the one under way. The function that work returns shows the result.
func (r *runner) start(ctx context.Context, work func(context.Context) func()) {
	if r.cancel != nil {
		r.cancel()
		<-r.done
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.since = time.Now()
	r.workshop.say(checkText.Args())
	r.status()
	go func() { r.done <- work(ctx) }()
}

// check starts a check.
func (r *runner) check(ctx context.Context) {
	r.start(ctx, func(ctx context.Context) func() {
		result, err := r.workshop.check(ctx, r.folder)
		return func() { r.checked(result, err) }
	})
}

// checked shows the result of a check. The first pass of an exercise asks for a prediction.
func (r *runner) checked(result CheckResult, err error) {
	e := result.Exercise
	prediction, fits := e.Predicted(result.Report.Verdict(e.Predict.Failure), r.view.Lang)
	if err != nil || !result.Passed || !fits || r.asked {
		r.show(result.Screen, err)
		return
	}
	r.asked = true
	r.predict(result, prediction)
}

// search starts a search, unless the lock is running.
func (r *runner) search(ctx context.Context) {
	if r.cancel != nil {
		return
	}
	r.start(ctx, func(ctx context.Context) func() {
		result, err := r.workshop.search(ctx, r.folder, exercises.Query{Bound: -1})
		return func() { r.show(result.Screen, err) }
	})
}

// status tells a person what is being done and for how long.
func (r *runner) status() {
	if r.cancel == nil || !r.isPerson {
		return
	}
	line := fmt.Sprintf("%s  %.0f s", r.doing.Load().Localize(r.view.Lang), time.Since(r.since).Seconds())
	fmt.Fprint(r.out, term.EraseLine+term.Clip(line, r.view.Width))
}

// finish ends a run and shows its result.
func (r *runner) finish(show func()) {
	r.cancel()
	r.cancel, r.question = nil, nil
	show()
}

// stop cancels the run under way, waits for its end, and moves the cursor below the status line.
func (r *runner) stop() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	<-r.done
	fmt.Fprintln(r.out)
}
