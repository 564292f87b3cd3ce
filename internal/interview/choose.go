package interview

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"lockkata/internal/i18n"
)

var noTheme = i18n.New("there is no theme {name}: there are {names}")

// FindTheme returns the theme of that name or title.
func FindTheme(name string, themes []Theme) (Theme, error) {
	var names []string
	for _, t := range themes {
		if t.ID == name || strings.EqualFold(t.Title, name) {
			return t, nil
		}
		names = append(names, t.ID+" ("+t.Title+")")
	}
	return Theme{}, noTheme.Args("name", strconv.Quote(name), "names", strings.Join(names, ", "))
}

// Filter keeps the questions that a filter wants, and the themes that have such a question.
func Filter(themes []Theme, wants func(Question) bool) (left []Theme) {
	for _, t := range themes {
		t.Questions = slices.DeleteFunc(slices.Clone(t.Questions), func(q Question) bool { return !wants(q) })
		if len(t.Questions) > 0 {
			left = append(left, t)
		}
	}
	return left
}

// Order returns the questions in the order in which they are asked, the same for the same seed:
// by rank, then by level, easiest first. Within a level it takes one of each theme, then a second
// of each, and so on.
func Order(themes []Theme, seed uint64) (all []Question) {
	random := rand.New(rand.NewPCG(seed, 0))
	before := map[string]int{} // earlier questions of the same rank, level and theme
	for _, from := range random.Perm(len(themes)) {
		count := map[[2]int]int{}
		for _, i := range random.Perm(len(themes[from].Questions)) {
			q := themes[from].Questions[i]
			kind := [2]int{int(q.Rank), int(q.Level)}
			before[q.ID] = count[kind]
			count[kind]++
			all = append(all, q)
		}
	}
	slices.SortStableFunc(all, func(a, b Question) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Level, b.Level), cmp.Compare(before[a.ID], before[b.ID]))
	})
	return all
}

// beginWith puts the question with this id first, if there is one.
func beginWith(questions []Question, id string) []Question {
	i := slices.IndexFunc(questions, func(q Question) bool { return q.ID == id })
	if i < 0 {
		return questions
	}
	return slices.Concat(questions[i:i+1], questions[:i], questions[i+1:])
}

// plan puts the n questions that fit the time before the others. It chooses them by rank, and within
// a rank takes one of each level in turn. Both parts are sorted by rank and level.
func plan(questions []Question, n int) {
	turn, count := map[string]int{}, map[[2]int]int{}
	for _, q := range questions {
		kind := [2]int{int(q.Rank), int(q.Level)}
		turn[q.ID] = count[kind]
		count[kind]++
	}
	slices.SortStableFunc(questions, func(a, b Question) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), turn[a.ID]-turn[b.ID], cmp.Compare(a.Level, b.Level))
	})
	n = min(n, len(questions))
	for _, part := range [][]Question{questions[:n], questions[n:]} {
		slices.SortStableFunc(part, func(a, b Question) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Level, b.Level)) })
	}
}
