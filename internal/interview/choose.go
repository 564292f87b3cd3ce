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

// Order returns the questions in the order in which they are asked, the same for the same seed. The
// one with the id first begins. Then come those that fit: n in all, chosen by rank, and within a rank
// one of each level in turn. Both they and the others are sorted by rank, then by level. Within a
// level it takes one of each theme, then a second of each, and so on.
func Order(themes []Theme, seed uint64, first string, n int) (all []Question) {
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
	turn, count := map[string]int{}, map[[2]int]int{}
	sort := func(part []Question) {
		turn[first] = -1
		slices.SortStableFunc(part, func(a, b Question) int {
			return cmp.Or(min(turn[a.ID], 0)-min(turn[b.ID], 0), cmp.Compare(a.Rank, b.Rank), turn[a.ID]-turn[b.ID],
				cmp.Compare(a.Level, b.Level), cmp.Compare(before[a.ID], before[b.ID]))
		})
	}
	sort(all)
	for _, q := range all {
		kind := [2]int{int(q.Rank), int(q.Level)}
		turn[q.ID] = count[kind]
		count[kind]++
	}
	sort(all)
	clear(turn)
	n = min(n, len(all))
	sort(all[:n])
	sort(all[n:])
	return all
}
