package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
)

var (
	searchBegun  = i18n.New("{n} of {all} searches; begun: {stage} in {env}")
	searchesDone = i18n.New("{n} of {all} searches")
)

// exploreInProcesses asks each question in a process of its own, as many at once
// as there are cores: a process searches on one.
func (a *app) exploreInProcesses(ctx context.Context, x exploration, jobs []job) ([]answer, error) {
	answers, errs := make([][]answer, len(jobs)), make([]error, len(jobs))
	turns := make(chan struct{}, runtime.NumCPU())
	var mu sync.Mutex
	var asking sync.WaitGroup
	done := 0
	for i, j := range jobs {
		turns <- struct{}{}
		asking.Go(func() {
			defer func() { <-turns }()
			mu.Lock()
			a.doing(a.say(searchBegun, "n", done, "all", len(jobs), "stage", j.stage.NameIn(a.lang), "env", j.question.Env))
			mu.Unlock()
			answers[i], errs[i] = a.askProcess(ctx, x, j)
			mu.Lock()
			defer mu.Unlock()
			done++
			a.doing(a.say(searchesDone, "n", done, "all", len(jobs)))
		})
	}
	asking.Wait()
	a.doing("")
	var all []answer
	for _, some := range answers {
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

// askProcess asks one question in another process. When ctx ends, the process is
// told to say what it knows so far.
func (a *app) askProcess(ctx context.Context, x exploration, j job) ([]answer, error) {
	q, lang := j.question, a.lang
	if x.asJSON {
		lang = i18n.English
	}
	cmd := exec.CommandContext(ctx, a.binary,
		"explore", "--question", strconv.Itoa(q.Number), "--stage", j.stage.ID, "--property", x.property,
		"--attempts", strconv.Itoa(x.attempts), "--bound", strconv.Itoa(q.Bound), "--clients", strconv.Itoa(q.Clients), "--lang", string(lang))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
	var all []answer
	p, err := fleet.Start(cmd)
	if err == nil {
		err = p.Hear(&all)
		ended := p.Wait()
		if ctx.Err() == nil {
			return all, cmp.Or(err, ended)
		}
	}
	if ctx.Err() != nil && all == nil { // it was told to end before it began
		return x.unanswered(j), nil
	}
	return all, err
}

// unanswered says of a question that nothing was looked at.
func (x exploration) unanswered(j job) []answer {
	s, properties := j.question.Ask(j.stage.Subject, x.attempts)
	var answers []answer
	for _, one := range (schedule.Result{}).Answers(s, properties, 0) {
		answers = append(answers, answer{Stage: j.stage.ID, Answer: one})
	}
	return answers
}
