package schedule

import (
	"math/rand/v2"
	"testing"
)

// Hunt runs random schedules, the same ones for the same seed, until one breaks the property or
// that many have run. It can miss violations, and its counterexample is rarely the shortest.
func Hunt(t *testing.T, s Setup, seed uint64, runs int, stop func(Progress) bool) (Result, error) {
	result := Result{Found: map[string]*Counterexample{}}
	random := rand.New(rand.NewPCG(seed, 0))
	for result.Runs = 0; result.Runs < runs; {
		if stop != nil && stop(result.Progress) {
			return result, nil
		}
		played, err := Play(t, s, func(p Point) (int, bool) {
			if random.IntN(3) > 0 {
				return p.Default, true
			}
			return random.IntN(len(p.Choices)), true
		})
		result.Runs++
		if err != nil {
			return result, err
		}
		if found := played.Broken(s.Property.Breaks); len(found) > 0 {
			result.Found[s.Property.Name] = played.upTo(found[0], s.Property.Breaks)
			return result, nil
		}
	}
	return result, nil
}
