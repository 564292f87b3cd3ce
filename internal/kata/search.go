package kata

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
)

// SearchResult is the result of a search, in the order of the questions.
type SearchResult struct {
	Exercise exercises.Exercise
	apart.Report
}

// IsBroken reports whether the search found anything wrong with the lock.
func (r SearchResult) IsBroken() bool {
	return r.Compile != nil || r.Cause != nil || slices.ContainsFunc(r.Found, func(f schedule.Found) bool { return f.Answer.Found })
}

// Search searches for schedules of the learner's lock that break a property. say gets the progress.
// Texts about the lock are in lang. An error is about the machine, the folder or the arguments.
func Search(ctx context.Context, f folder.Folder, q exercises.Query, lang i18n.Language, say func(i18n.Message)) (SearchResult, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.search(ctx, f, q)
}

var (
	timedSearchText = i18n.New("searching its schedules, at most {time} for each environment")
	noQuestionText  = i18n.New("{asked} is about something that the lock of exercise {id} does not have: " +
		"leave out --property and --env to ask all that fits it")
)

func (w *workshop) search(ctx context.Context, f folder.Folder, q exercises.Query) (r SearchResult, err error) {
	if r.Exercise, _, err = f.Present(); err != nil {
		return r, err
	}
	if _, err := schedule.FindEnv(q.Env); q.Env != "" && err != nil {
		return r, err
	}
	if _, err := schedule.FindProperty(q.Property); q.Property != "" && err != nil {
		return r, err
	}
	files, err := f.Lock()
	if err != nil {
		return r, err
	}
	bench, err := w.bench(ctx, r.Exercise.LockOf(files))
	if err == nil {
		w.say(timedSearchText.Args("time", searchLimit))
		r.Report, err = bench.Ask(ctx, inquiries(questions(q, r.Exercise.Search), 0))
	}
	switch {
	case errors.As(err, &r.Compile):
		return r, nil
	case err == nil && len(r.Found) == 0 && r.Cause == nil:
		return r, noQuestionText.Args("asked", cmp.Or(q.Property, q.Env), "id", r.Exercise.ID)
	}
	return r, err
}

// ForJSON returns the result for JSON.
func (r SearchResult) ForJSON() any {
	return struct {
		Exercise string `json:"exercise"`
		Title    string `json:"title"`
		Broken   bool   `json:"broken"`
		apart.Report
	}{r.Exercise.ID, r.Exercise.Text(i18n.English).Title, r.IsBroken(), r.Report}
}
