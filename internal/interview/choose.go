package interview

import (
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
	for _, themes := range documents {
		for i, t := range themes {
			if t.Short() == strings.TrimPrefix(name, themePrefix) || strings.EqualFold(t.Title, name) {
				return i, nil
			}
		}
	}
	for i, t := range documents[0] {
		name := t.Short()
		if len(documents) > 1 {
			name += " (" + documents[1][i].Title + ")"
		}
		names = append(names, name)
	}
	return 0, noTheme.Args("name", strconv.Quote(name), "names", strings.Join(names, ", "))
}

// Filter leaves only the questions that a filter wants, and the themes that have one.
func Filter(themes []Theme, wants func(Question) bool) (left []Theme) {
	for _, t := range themes {
		var questions []Question
		for _, q := range t.Questions {
			if wants(q) {
				questions = append(questions, q)
			}
		}
		if len(questions) > 0 {
			t.Questions = questions
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
	for rank := range ranks {
		for level := range levels {
			all = append(all, spread(random, Filter(themes, func(q Question) bool { return q.Rank == rank && q.Level == level }))...)
		}
	}
	return all
}

// spread shuffles questions, one of each theme before the second of one.
func spread(random *rand.Rand, themes []Theme) (all []Question) {
	var piles [][]Question
	for _, from := range random.Perm(len(themes)) {
		var pile []Question
		for _, q := range random.Perm(len(themes[from].Questions)) {
			pile = append(pile, themes[from].Questions[q])
		}
		piles = append(piles, pile)
	}
	for len(piles) > 0 {
		for i, pile := range piles {
			all, piles[i] = append(all, pile[0]), pile[1:]
		}
		piles = slices.DeleteFunc(piles, func(pile []Question) bool { return len(pile) == 0 })
	}
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
