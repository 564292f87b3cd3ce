package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"lockkata/failures_test/redisserver"
	"lockkata/failures_test/schedule"
	"lockkata/internal/term"
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
			answers[i], errs[i] = a.askProcess(ctx, x, j)
			mu.Lock()
			defer mu.Unlock()
			done++
			if a.terminal {
				fmt.Fprintf(a.err, term.EraseLine+"%d of %d searches", done, len(jobs))
			}
		})
	}
	asking.Wait()
	if a.terminal {
		fmt.Fprint(a.err, term.EraseLine)
	}
	var all []answer
	for _, some := range answers {
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

// askProcess asks one question in another process. When ctx ends, the process is
// told to say what it knows so far.
func (a *app) askProcess(ctx context.Context, x exploration, j job) ([]answer, error) {
	q := j.question
	var all []answer
	args := []string{
		"explore", "--question", strconv.Itoa(q.Number), "--stage", strconv.Itoa(j.stage.Number), "--property", x.property,
		"--attempts", strconv.Itoa(x.attempts), "--bound", strconv.Itoa(q.Bound), "--clients", strconv.Itoa(q.Clients),
	}
	cmd := exec.CommandContext(ctx, a.binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	redisserver.EndWithParent(cmd)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	if out.Len() == 0 { // it was told to end before it began
		return x.unanswered(j), nil
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		return nil, fmt.Errorf("explore: a worker said %q: %w", out.String(), err)
	}
	return all, nil
}

// unanswered says of a question that nothing was looked at.
func (x exploration) unanswered(j job) []answer {
	s, properties := j.question.Ask(j.stage.Subject, nil, x.attempts)
	var answers []answer
	for _, one := range (schedule.Result{}).Answers(s, properties, 0) {
		answers = append(answers, answer{Stage: j.stage.Number, Answer: one})
	}
	return answers
}
