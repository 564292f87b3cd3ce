package timeline

import (
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// company tells whether those who are inside together break the rule, or are
// excused: one of them cannot know yet that it has lost the lock.
type company struct {
	entered map[int]bool // the steps at which somebody came in against the rule
	excused bool
}

func newCompany(found []oracle.Finding) *company {
	c := &company{entered: map[int]bool{}}
	for _, f := range found {
		c.entered[f.Step] = c.entered[f.Step] || f.Monitor == oracle.Exclusion
	}
	return c
}

func (c *company) follow(e world.Event) {
	if e.Kind == world.Returned && e.Result.Held {
		c.excused = !c.entered[e.Step]
	}
}

// letters are a letter for each lane: - outside, i inside alone, x inside with
// another against the rule, e inside with another and excused.
func (c *company) letters(s *scene) string {
	believers := 0
	for _, lane := range s.lanes {
		if s.holds[lane] > 0 {
			believers++
		}
	}
	var b strings.Builder
	for _, lane := range s.lanes {
		switch {
		case s.holds[lane] <= 0:
			b.WriteByte('-')
		case believers == 1:
			b.WriteByte('i')
		case c.excused:
			b.WriteByte('e')
		default:
			b.WriteByte('x')
		}
	}
	return b.String()
}
