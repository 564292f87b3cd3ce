package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
)

var (
	howFar       = i18n.New("{stage}, {env}: up to {n} faults, {runs} schedules, {states} states, {rate} schedules/s")
	searchesDone = i18n.New("{n} of {all} searches")
	failsIn      = i18n.New("{stage} in {env}: {error}")
)

// ask searches in this process until the context ends.
func (a *app) ask(ctx context.Context, x exploration, j job) ([]answer, error) {
	subject, err := failures.DiscoverScripts(a.t, j.stage.Subject)
	if err != nil {
		return nil, failedError{err}
	}
	s, properties := j.question.Ask(subject, x.attempts)
	if len(properties) == 0 {
		return nil, nil
	}
	begun, reported := time.Now(), time.Now()
	stop := func(p schedule.Progress) bool {
		if time.Since(reported) > 250*time.Millisecond {
			reported = time.Now()
			a.tell(howFar.Args("stage", j.stage.NameText(), "env", j.question.Env, "n", p.Bound,
				"runs", p.Runs, "states", p.States, "rate", int(float64(p.Runs)/time.Since(begun).Seconds())))
		}
		return ctx.Err() != nil
	}
	result, err := schedule.Search(a.t, s, properties, schedule.Limits{Bound: j.question.Bound, Stop: stop})
	if err != nil {
		return nil, failsIn.Args("stage", j.stage.NameText(), "env", s.Env.Name, "error", err)
	}
	answers := j.answers(result, s, properties, time.Since(begun))
	for i := range answers {
		if x.question >= 0 { // for the parent process
			answers[i].Text = answers[i].TextIn(a.lang)
		}
	}
	return answers, nil
}

// answers converts the result of a search.
func (j job) answers(r schedule.Result, s schedule.Setup, properties []schedule.Property, took time.Duration) (all []answer) {
	for _, one := range r.Answers(s, properties, took) {
		all = append(all, answer{Stage: j.stage.ID, Answer: one})
	}
	return all
}

// askProcess searches in a child process. When the context ends, the child is interrupted and
// returns what it knows so far.
func (a *app) askProcess(ctx context.Context, x exploration, j job) (all []answer, err error) {
	q, lang := j.question, a.lang
	if x.asJSON {
		lang = i18n.English
	}
	cmd := exec.CommandContext(ctx, a.binary,
		"explore", "--question", strconv.Itoa(q.Number), "--stage", j.stage.ID, "--property", x.property,
		"--attempts", strconv.Itoa(x.attempts), "--bound", strconv.Itoa(q.Bound), "--clients", strconv.Itoa(q.Clients), "--lang", string(lang))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.Output()
	switch {
	case len(out) > 0:
		return all, json.Unmarshal(out, &all)
	case ctx.Err() != nil: // it was interrupted before it began
		s, properties := q.Ask(j.stage.Subject, x.attempts)
		return j.answers(schedule.Result{}, s, properties, 0), nil
	}
	return nil, err
}
