package schedule

import "testing"

// SearchFrom is [Search] for one property among the schedules that begin with the
// given steps. What they cost does not count: cost 0 is a calm day from there on.
func SearchFrom(t *testing.T, s Setup, from []string, limits Limits) (Result, error) {
	var last *node
	for _, token := range from {
		last = &node{last, token, depth(last) + 1}
	}
	return begin(t, s, []Property{s.Property}, last, limits)
}
