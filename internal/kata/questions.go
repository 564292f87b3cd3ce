package kata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/stages"
)

// searchLimit is how long one search may take in real time.
const searchLimit = 20 * time.Second

// questions returns the matching questions of the suite, and the exercise's own if all are asked. A
// property and an environment that are not in the suite together make a new question.
func questions(q, own exercises.Query) []schedule.Question {
	asked := schedule.Asked(q.Env, q.Property)
	switch {
	case len(asked) == 0:
		asked = []schedule.Question{newQuestion(q)}
	case q.Property == "" && q.Env == "" && own.Property != "" && len(schedule.Asked(own.Env, own.Property)) == 0:
		asked = append(asked, newQuestion(own))
	}
	for i := range asked {
		if q.Bound >= 0 {
			asked[i].Bound = q.Bound
		}
	}
	return asked
}

// newQuestion returns a question that is not in the suite.
func newQuestion(q exercises.Query) schedule.Question {
	return schedule.Question{Env: q.Env, Properties: []string{q.Property}, Clients: 2, Bound: 2}
}

// ofTwoClients returns the questions with two clients; those with three take minutes.
func ofTwoClients(all []schedule.Question) []schedule.Question {
	return slices.DeleteFunc(all, func(q schedule.Question) bool { return q.Clients != 2 })
}

// inquiries returns the searches that answer questions, with at most that many schedules each; 0: no limit.
func inquiries(asked []schedule.Question, most int) []schedule.Inquiry {
	all := make([]schedule.Inquiry, len(asked))
	for i, q := range asked {
		all[i] = schedule.Inquiry{Question: q, Attempts: 1, Runs: most, For: searchLimit, SkipUnstable: true}
	}
	return all
}

// ours returns how our own lock breaks the property, if it does.
func ours(e exercises.Exercise, f schedule.Found) (a schedule.Answer) {
	_, err := fmt.Sscanf(stages.MustFind(e.Lock).Search(f.Property, f.Env), "%d/%d", &a.Cost, &a.Steps)
	a.Found = err == nil
	return a
}

// isOurs reports whether our own lock breaks the property as cheaply.
func isOurs(e exercises.Exercise, f schedule.Found) bool { return !f.Cheaper(ours(e, f)) }

// shortest returns the shortest way to break each property: first those that our own lock
// keeps, then by faults.
func shortest(e exercises.Exercise, found []schedule.Found) (all []schedule.Found) {
	sorted := slices.Clone(found)
	slices.SortStableFunc(sorted, func(a, b schedule.Found) int { return cmp.Or(a.Cost-b.Cost, a.Steps-b.Steps) })
	for _, our := range []bool{false, true} {
		for _, f := range sorted {
			isShown := slices.ContainsFunc(all, func(other schedule.Found) bool { return other.Property == f.Property })
			if f.Answer.Found && isOurs(e, f) == our && !isShown {
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
