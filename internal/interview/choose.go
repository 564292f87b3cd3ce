package interview

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Restrict leaves only the theme of that name, with or without theme- before it.
func Restrict(themes []Theme, name string) ([]Theme, error) {
	var names []string
	for _, t := range themes {
		if t.Short() == strings.TrimPrefix(name, themePrefix) {
			return []Theme{t}, nil
		}
		names = append(names, t.Short())
	}
	return nil, fmt.Errorf("there is no theme %q: there are %s", name, strings.Join(names, ", "))
}

// Order is the order in which questions are asked, the same for the same seed: one of
// each theme, then the second of each, and so on.
func Order(themes []Theme, seed uint64) []Question {
	random := rand.New(rand.NewPCG(seed, 0))
	piles := make([][]Question, len(themes))
	for i, from := range random.Perm(len(themes)) {
		for _, q := range random.Perm(len(themes[from].Questions)) {
			piles[i] = append(piles[i], themes[from].Questions[q])
		}
	}
	var all []Question
	for left := true; left; {
		left = false
		for i, pile := range piles {
			if len(pile) > 0 {
				all, piles[i], left = append(all, pile[0]), pile[1:], true
			}
		}
	}
	return all
}
