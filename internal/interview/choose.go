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

// FindTheme is the index of the theme of that name: its anchor, with or without theme-
// before it, or its title in any of the documents, which have the same themes.
func FindTheme(name string, documents ...[]Theme) (int, error) {
	var names []string
	for i, t := range documents[0] {
		shown := t.Short()
		for n, themes := range documents {
			if t.Short() == strings.TrimPrefix(name, themePrefix) || strings.EqualFold(themes[i].Title, name) {
				return i, nil
			}
			if n > 0 {
				shown += " (" + themes[i].Title + ")"
			}
		}
		names = append(names, shown)
	}
	return 0, noTheme.Args("name", strconv.Quote(name), "names", strings.Join(names, ", "))
}

// Filter leaves only the questions that a filter wants, and the themes that have one.
func Filter(themes []Theme, wants func(Question) bool) (left []Theme) {
	for _, t := range themes {
		t.Questions = slices.DeleteFunc(slices.Clone(t.Questions), func(q Question) bool { return !wants(q) })
		if len(t.Questions) > 0 {
			left = append(left, t)
		}
	}
	return left
}

// Order is the order in which questions are asked, the same for the same seed: those of
// the first rank, of that those of the easiest level, and of those one of each theme,
// then the second of each, and so on.
func Order(themes []Theme, seed uint64) (all []Question) {
	random := rand.New(rand.NewPCG(seed, 0))
	before := map[string]int{} // how many others of its kind and theme come before a question
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
