package kata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// searchLimit is how long one search may take in real time.
const searchLimit = 20 * time.Second

// questions returns the matching questions of the suite, and the exercise's own if all are asked. A
// property and an environment that are not in the suite together make a new question.
func (x Sought) questions(own Sought) []schedule.Question {
	asked := schedule.Asked(x.Env, x.Property)
	switch {
	case len(asked) == 0:
		asked = x.alone()
	case x.Property == "" && x.Env == "" && own.Property != "" && len(schedule.Asked(own.Env, own.Property)) == 0:
		asked = append(asked, own.alone()...)
	}
	for i := range asked {
		if x.Bound >= 0 {
			asked[i].Bound = x.Bound
		}
	}
	return asked
}

// alone returns a question that is not in the suite.
func (x Sought) alone() []schedule.Question {
	return []schedule.Question{{Env: x.Env, Properties: []string{x.Property}, Clients: 2, Bound: 2}}
}

// Explored is the result of a search, in the order of the questions.
type Explored struct {
	Exercise Exercise
	apart.Report
}

// IsBroken reports whether the search found anything wrong with the lock.
func (x Explored) IsBroken() bool {
	return x.Compile != nil || x.Cause != nil || slices.ContainsFunc(x.Found, func(f schedule.Found) bool { return f.Answer.Found })
}

// Explore searches for schedules of the learner's lock that break a property. say gets the progress.
// Texts about the lock are in lang. An error is about the machine, the folder or the arguments.
func Explore(ctx context.Context, f Folder, asked Sought, lang i18n.Language, say func(i18n.Message)) (Explored, error) {
	w := workshop{root: f.Root, lang: lang, say: say}
	defer w.close()
	return w.explore(ctx, f, asked)
}

var (
	searchingFor = i18n.New("searching its schedules, at most {time} for each environment")
	aboutNothing = i18n.New("{asked} is about something that the lock of exercise {id} does not have: " +
		"leave out --property and --env to ask all that fits it")
)

func (w *workshop) explore(ctx context.Context, f Folder, asked Sought) (x Explored, err error) {
	if x.Exercise, _, err = f.present(); err != nil {
		return x, err
	}
	if _, err := schedule.FindEnv(asked.Env); asked.Env != "" && err != nil {
		return x, err
	}
	if _, err := schedule.FindProperty(asked.Property); asked.Property != "" && err != nil {
		return x, err
	}
	files, err := f.Lock()
	if err != nil {
		return x, err
	}
	bench, err := w.bench(ctx, x.Exercise.lockOf(files))
	if err == nil {
		w.say(searchingFor.Args("time", searchLimit))
		x.Report, err = bench.Ask(ctx, inquiries(asked.questions(x.Exercise.Search), 0))
	}
	switch {
	case errors.As(err, &x.Compile):
		return x, nil
	case err == nil && len(x.Found) == 0 && x.Cause == nil:
		return x, aboutNothing.Args("asked", cmp.Or(asked.Property, asked.Env), "id", x.Exercise.ID)
	}
	return x, err
}

// inquiries returns the searches that answer questions, with at most that many schedules each; 0: no limit.
func inquiries(questions []schedule.Question, most int) []schedule.Inquiry {
	all := make([]schedule.Inquiry, len(questions))
	for i, q := range questions {
		all[i] = schedule.Inquiry{Question: q, Attempts: 1, Runs: most, For: searchLimit, SkipUnstable: true}
	}
	return all
}

// ofTwoClients returns the questions with two clients; those with three take minutes.
func ofTwoClients(all []schedule.Question) []schedule.Question {
	return slices.DeleteFunc(all, func(q schedule.Question) bool { return q.Clients != 2 })
}

// ForJSON returns the result for JSON.
func (x Explored) ForJSON() any {
	return struct {
		Exercise string `json:"exercise"`
		Title    string `json:"title"`
		Broken   bool   `json:"broken"`
		apart.Report
	}{x.Exercise.ID, x.Exercise.Text(i18n.English).Title, x.IsBroken(), x.Report}
}

// Texts about the result of a search.
var (
	oursToo     = i18n.New("  our lock of {stage} breaks it as well")
	shortestWay = i18n.New("The shortest way to break {property}, in {env}:")
	brokenBy    = i18n.New("BROKEN: {rule}: {what}.")
)

// Screen shows the result for each property, and draws the shortest schedule that breaks it. At a
// keyboard it shows only one of the broken properties.
func (x Explored) Screen(v View) string {
	v.All = true
	text := x.Exercise.headline(v)
	if x.Compile != nil {
		return text + v.stopped(x.Report)
	}
	for _, f := range x.Found {
		text += f.QuestionIn(v.Lang) + "\n" + f.Answer.Localize(v.Lang)
		if f.Answer.Found && x.Exercise.given(f) { // then it is not the learner's mistake
			text += v.say(oursToo, "stage", stageOf(x.Exercise.Lock).NameIn(v.Lang)) + "\n"
		}
		text += "\n"
	}
	shown := shortest(x.Exercise, x.Found)
	if v.Keys && len(shown) > 1 {
		shown = shown[:1]
	}
	for _, f := range shown {
		text += v.counterexample(f) + "\n"
	}
	return text + v.stopped(x.Report) + v.printed(x.Report) + v.differs(x.Report) + v.wrapped(x.sum(v))
}

// counterexample draws a schedule that breaks a property.
func (v View) counterexample(f schedule.Found) string {
	text := v.line(term.Bold, v.say(shortestWay, "property", schedule.NameIn(v.Lang, f.Property), "env", schedule.NameIn(v.Lang, f.Env)))
	if f.Trace != nil { // a lock that decides at random went another way
		text += v.shortened(v.picture(f.Trace, f.Findings), ruleOf(f))
	}
	return text + v.painted(term.Red, v.say(brokenBy, "rule", ruleOf(f), "what", f.Text))
}

// ruleOf returns the property's name in a picture.
func ruleOf(f schedule.Found) i18n.Text {
	if len(f.Findings) > 0 {
		return i18n.Text(f.Findings[0].Rule)
	}
	return i18n.Text(f.Property)
}

// lesson returns how our own lock breaks the property, if it does.
func (e Exercise) lesson(f schedule.Found) schedule.Answer {
	lesson := schedule.Answer{}
	_, err := fmt.Sscanf(stageOf(e.Lock).Search(f.Property, f.Env), "%d/%d", &lesson.Cost, &lesson.Steps)
	lesson.Found = err == nil
	return lesson
}

// given reports whether our own lock breaks the property as cheaply.
func (e Exercise) given(f schedule.Found) bool { return !f.Cheaper(e.lesson(f)) }

// shortest returns the shortest way to break each property: first those that our own lock
// keeps, then by faults.
func shortest(e Exercise, found []schedule.Found) (all []schedule.Found) {
	sorted := slices.Clone(found)
	slices.SortStableFunc(sorted, func(a, b schedule.Found) int { return cmp.Or(a.Cost-b.Cost, a.Steps-b.Steps) })
	for _, given := range []bool{false, true} {
		for _, f := range sorted {
			isShown := slices.ContainsFunc(all, func(other schedule.Found) bool { return other.Property == f.Property })
			if f.Answer.Found && e.given(f) == given && !isShown {
				all = append(all, f)
			}
		}
	}
	return all
}

// schedules returns how many schedules were run: the answers of one search count once.
func schedules(found []schedule.Found) (runs int) {
	searches := map[string]bool{}
	for _, f := range found {
		if search := fmt.Sprint(f.Env, f.Clients, f.Runs, f.States); !searches[search] {
			searches[search] = true
			runs += f.Runs
		}
	}
	return runs
}

var twoWays = i18n.New("One schedule did not go the same way twice, so the search left it out: {schedule}. If two things happen at " +
	"one instant, such as a tick and the end of a context, either may come first: look at ctx.Err() before you send a command.")

// differs returns a warning if the lock decides at random.
func (v View) differs(r apart.Report) string {
	if r.Differs == "" {
		return ""
	}
	return v.wrapped(v.say(twoWays, "schedule", r.Differs))
}

var (
	searchedAll = i18n.NewPlural("{n} schedule of your lock and real go-redis clients on an embedded Redis.",
		"{n} schedules of your lock and real go-redis clients on an embedded Redis.")
	searchCut = i18n.NewPlural("After {time}, or because memory ran short, the search for {n} answer was cut short: the lines above show how far it got.",
		"After {time}, or because memory ran short, the search for {n} answers was cut short: the lines above show how far it got.")
	searchNone = i18n.New("Nothing is broken with up to the faults above. That is no proof.")
)

// sum returns how much was searched, and what follows from it.
func (x Explored) sum(v View) string {
	text, cut := searchedAll.Of(schedules(x.Found)).Localize(v.Lang), 0
	for _, f := range x.Found {
		if !f.Exhausted {
			cut++
		}
	}
	if cut > 0 {
		text = term.Joined(text, searchCut.Of(cut, "time", searchLimit).Localize(v.Lang))
	}
	if !x.IsBroken() {
		text = term.Joined(text, v.say(searchNone))
	}
	return text
}
