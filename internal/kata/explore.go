package kata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/judge"
)

// searchLimit is how long one search may take in real time.
const searchLimit = 20 * time.Second

// highestBound is the highest cost that can be asked for.
const highestBound = 9

// Exploring is what an exploration is asked for.
type Exploring struct {
	Property string // "" for all
	Env      string // "" for all that ask about the property
	Bound    int    // the highest cost; -1 for each question's own
}

// questions are what an exploration asks: those of the suite that fit, and of all
// that the exercise's own. A property and an environment that the suite does not
// bring together make a question of their own.
func (x Exploring) questions(own Sought) ([]schedule.Question, error) {
	if x.Bound < -1 || x.Bound > highestBound {
		return nil, fmt.Errorf("--bound %d: it can be 0 to %d", x.Bound, highestBound)
	}
	if _, err := schedule.FindEnv(x.Env); x.Env != "" && err != nil {
		return nil, err
	}
	if _, err := schedule.FindProperty(x.Property); x.Property != "" && err != nil {
		return nil, err
	}
	var asked []schedule.Question
	for _, q := range schedule.Suite {
		if x.Env != "" && q.Env != x.Env || x.Property != "" && !slices.Contains(q.Properties, x.Property) {
			continue
		}
		if x.Property != "" {
			q.Properties = []string{x.Property}
		}
		asked = append(asked, q)
	}
	switch {
	case len(asked) == 0:
		asked = []schedule.Question{apart(x.Property, x.Env)}
	case x == Exploring{Bound: x.Bound} && own.Property != "" && !isAsked(own.Property, own.Env):
		asked = append(asked, apart(own.Property, own.Env))
	}
	for i := range asked {
		if x.Bound >= 0 {
			asked[i].Bound = x.Bound
		}
	}
	return asked, nil
}

// apart is a question that is none of the suite's.
func apart(property, env string) schedule.Question {
	return schedule.Question{Env: env, Properties: []string{property}, Clients: 2, Bound: 2}
}

// isAsked tells whether the suite asks about the property in the environment.
func isAsked(property, env string) bool {
	return slices.ContainsFunc(schedule.Suite, func(q schedule.Question) bool {
		return q.Env == env && slices.Contains(q.Properties, property)
	})
}

// Explored is what an exploration has found.
type Explored struct {
	Exercise Exercise
	Compile  *CompileError
	Cause    *judge.Cause  // why the search could not go on
	Found    []judge.Found // in the order of the questions
	Printed  string        // what the lock wrote to its standard output
}

// IsBroken tells whether anything is wrong with the lock.
func (x Explored) IsBroken() bool {
	return x.Compile != nil || x.Cause != nil || slices.ContainsFunc(x.Found, func(f judge.Found) bool { return f.Answer.Found })
}

// Explore searches the schedules of the learner's lock for those that break a
// property. An error is one of the machine's, of the folder's, or of what is asked.
func Explore(ctx context.Context, f Folder, asked Exploring) (Explored, error) {
	w := &workshop{}
	defer w.close()
	return explore(ctx, f, asked, w)
}

// fitsNothing is the error of questions that are all about what the lock does not have.
func (x Exploring) fitsNothing(e Exercise) error {
	return fmt.Errorf("%s is about something that the lock of exercise %d does not have: leave out --property and --env to ask all that fits it",
		cmp.Or(x.Property, x.Env), e.Number)
}

func explore(ctx context.Context, f Folder, asked Exploring, w *workshop) (Explored, error) {
	e, _, err := f.present()
	if err != nil {
		return Explored{}, err
	}
	x := Explored{Exercise: e}
	questions, err := asked.questions(e.Search)
	if err != nil {
		return x, err
	}
	files, err := f.Lock()
	if err != nil {
		return x, err
	}
	program, err := w.build(ctx, f.Root, files)
	if errors.As(err, &x.Compile) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	if err := x.search(ctx, program, e.task(lockName), questions); err != nil {
		return x, err
	}
	if len(x.Found) == 0 && x.Cause == nil {
		return x, asked.fitsNothing(e)
	}
	return x, nil
}

// search asks the questions, as many at once as there are cores. A lock that does not
// survive the first is asked no more.
func (x *Explored) search(ctx context.Context, program *Program, task judge.Task, questions []schedule.Question) error {
	reports, errs := make([]Report, len(questions)), make([]error, len(questions))
	ask := func(i int) {
		task := task
		task.Search = &judge.Search{Question: questions[i], Attempts: 1, For: time.Duration(max(task.Patience, 1)) * searchLimit}
		reports[i], errs[i] = program.Judge(ctx, task)
	}
	ask(0)
	if errs[0] == nil && reports[0].Cause == nil {
		turns := make(chan struct{}, runtime.NumCPU())
		var asking sync.WaitGroup
		for i := 1; i < len(questions); i++ {
			turns <- struct{}{}
			asking.Go(func() {
				defer func() { <-turns }()
				ask(i)
			})
		}
		asking.Wait()
	}
	for _, r := range reports {
		x.Found = append(x.Found, r.Found...)
		if x.Cause == nil {
			x.Cause = r.Cause
		}
		if x.Printed == "" {
			x.Printed = r.Printed
		}
	}
	return errors.Join(errs...)
}

// ToldExplored is an exploration as JSON.
type ToldExplored struct {
	Exercise int           `json:"exercise"`
	Title    string        `json:"title"`
	Broken   bool          `json:"broken"`
	Compile  *CompileError `json:"compile_error,omitempty"`
	Cause    *judge.Cause  `json:"cause,omitempty"`
	Answers  []judge.Found `json:"answers"`
	Printed  string        `json:"printed,omitempty"`
}

// Told returns the exploration as JSON has it.
func (x Explored) Told() ToldExplored {
	return ToldExplored{x.Exercise.Number, x.Exercise.Title, x.IsBroken(), x.Compile, x.Cause, x.Found, x.Printed}
}
