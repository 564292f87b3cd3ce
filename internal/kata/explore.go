package kata

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// searchLimit is how long one search may take in real time.
const searchLimit = 20 * time.Second

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
	if _, err := schedule.FindEnv(x.Env); x.Env != "" && err != nil {
		return nil, err
	}
	if _, err := schedule.FindProperty(x.Property); x.Property != "" && err != nil {
		return nil, err
	}
	var asked []schedule.Question
	for _, q := range schedule.Suite {
		if !asks(q, x.Property, x.Env) {
			continue
		}
		if x.Property != "" {
			q.Properties = []string{x.Property}
		}
		asked = append(asked, q)
	}
	isOwnNew := own.Property != "" && !slices.ContainsFunc(schedule.Suite, func(q schedule.Question) bool { return asks(q, own.Property, own.Env) })
	switch {
	case len(asked) == 0:
		asked = []schedule.Question{apart(x.Property, x.Env)}
	case x.Property == "" && x.Env == "" && isOwnNew:
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

// asks tells whether the question is about the property in the environment, or about any
// where they are not given.
func asks(q schedule.Question, property, env string) bool {
	return (env == "" || q.Env == env) && (property == "" || slices.Contains(q.Properties, property))
}

// Explored is what an exploration has found, in the order of the questions.
type Explored struct {
	Exercise Exercise
	Report
}

// IsBroken tells whether anything is wrong with the lock.
func (x Explored) IsBroken() bool {
	return x.Compile != nil || x.Cause != nil || slices.ContainsFunc(x.Found, func(f judge.Found) bool { return f.Answer.Found })
}

// Explore searches the schedules of the learner's lock for those that break a
// property. An error is one of the machine's, of the folder's, or of what is asked.
// say is told what it is doing. What is said of the lock is in that language.
func Explore(ctx context.Context, f Folder, asked Exploring, lang i18n.Language, say func(i18n.Message)) (Explored, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.explore(ctx, f, asked)
}

var searchingFor = i18n.New("searching its schedules, for {time} at the most for each environment")

func (w *workshop) explore(ctx context.Context, f Folder, asked Exploring) (x Explored, err error) {
	if x.Exercise, _, err = f.present(); err != nil {
		return x, err
	}
	questions, err := asked.questions(x.Exercise.Search)
	if err != nil {
		return x, err
	}
	files, err := f.Lock()
	if err != nil {
		return x, err
	}
	program, err := w.program(ctx, files)
	if err == nil {
		w.tell(searchingFor.Args("time", searchLimit))
		x.Report, err = program.search(ctx, files, x.Exercise.asked(w.lang), questions, 0)
	}
	switch {
	case errors.As(err, &x.Compile):
		return x, nil
	case err == nil && len(x.Found) == 0 && x.Cause == nil:
		return x, asked.fitsNothing(x.Exercise)
	}
	return x, err
}

var aboutNothing = i18n.New("{asked} is about something that the lock of exercise {id} does not have: " +
	"leave out --property and --env to ask all that fits it")

// fitsNothing is the error of questions that are all about what the lock does not have.
func (x Exploring) fitsNothing(e Exercise) error {
	return aboutNothing.Args("asked", cmp.Or(x.Property, x.Env), "id", e.ID)
}

// ofTwoClients returns the questions about two clients: those about three take minutes.
func ofTwoClients(all []schedule.Question) (some []schedule.Question) {
	for _, q := range all {
		if q.Clients == 2 {
			some = append(some, q)
		}
	}
	return some
}

// Told is the exploration as JSON has it.
func (x Explored) Told() any {
	return struct {
		Exercise string        `json:"exercise"`
		Title    string        `json:"title"`
		Broken   bool          `json:"broken"`
		Compile  *CompileError `json:"compile_error,omitempty"`
		Cause    *judge.Cause  `json:"cause,omitempty"`
		Answers  []judge.Found `json:"answers"`
		Differs  string        `json:"differs,omitempty"`
		Printed  string        `json:"printed,omitempty"`
	}{x.Exercise.ID, x.Exercise.Text(i18n.English).Title, x.IsBroken(), x.Compile, x.Cause, x.Found, x.Differs, x.Printed}
}
