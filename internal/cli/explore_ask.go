package cli

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/kata"
	"lockkata/internal/kata/judge"
	"lockkata/internal/stages"
)

var (
	howFar       = i18n.New("{stage}, {env}: up to {n} faults, {runs} schedules, {states} states, {rate} schedules/s")
	searchesDone = i18n.New("{n} of {all} searches")
	failsIn      = i18n.New("{stage} in {env}: {error}")
)

// searchAll makes the searches, several of them in processes of their own.
func (a *app) searchAll(ctx context.Context, tasks []judge.Task) (replies []judge.Reply, err error) {
	done := func(n, all int) { a.tell(searchesDone.Args("n", n, "all", all)) }
	if len(tasks) > 1 && a.binary != "" {
		return kata.SearchStages(ctx, a.binary, tasks, done)
	}
	for i, task := range tasks {
		reply, err := a.search(ctx, task)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
		done(i+1, len(tasks))
	}
	return replies, nil
}

// search makes a search in this process, until the context ends.
func (a *app) search(ctx context.Context, task judge.Task) (judge.Reply, error) {
	defer world.TuneForBatch()()
	stage := stages.MustFind(task.Lock)
	subject, err := failures.DiscoverScripts(a.t, stage.Subject)
	if err != nil {
		return judge.Reply{}, failedError{err}
	}
	begun, reported := time.Now(), time.Now()
	return judge.SearchHere(a.t, subject, task, func(p schedule.Progress) bool {
		if time.Since(reported) > 250*time.Millisecond {
			reported = time.Now()
			a.tell(howFar.Args("stage", stage.NameText(), "env", task.Search.Question.Env, "n", p.Bound,
				"runs", p.Runs, "states", p.States, "rate", int(float64(p.Runs)/time.Since(begun).Seconds())))
		}
		return ctx.Err() != nil
	}), nil
}

// searchCommand returns a command for kata.SearchStages, which makes one search and writes the reply
// into a file.
func (a *app) searchCommand() *cobra.Command {
	return &cobra.Command{Use: "search TASK FILE", Hidden: true, Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		var task judge.Task
		if err := json.Unmarshal([]byte(args[0]), &task); err != nil {
			return err
		}
		reply, err := a.search(cmd.Context(), task)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], raw, 0o600)
	}}
}

// answersOf returns the answers in a reply. If the search did not begin they say that it was cut short.
func answersOf(task judge.Task, reply judge.Reply) (answers []answer, err error) {
	stage, question := stages.MustFind(task.Lock), task.Search.Question
	if reply.Cause != nil {
		return nil, failedError{failsIn.Args("stage", stage.NameText(), "env", question.Env, "error", reply.Cause.Text)}
	}
	for _, found := range reply.Found {
		answers = append(answers, answer{stage.ID, found.Answer})
	}
	if len(answers) == 0 {
		setup, properties := question.Ask(stage.Subject, task.Search.Attempts)
		for _, one := range (schedule.Result{}).Answers(setup, properties, 0) {
			answers = append(answers, answer{stage.ID, one})
		}
	}
	return answers, nil
}
