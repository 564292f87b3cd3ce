package failures

import (
	"fmt"
	"strings"
)

// summary is what a whole catalogue came to.
type summary struct {
	last     string // the failure that was added last
	count    map[Outcome]int
	causes   []string            // rules and reasons of what was not expected, as they appeared
	failures map[string][]string // cause → its failures
}

func (s *summary) add(v Verdict, wrong bool) {
	if s.count == nil {
		s.count, s.failures = map[Outcome]int{}, map[string][]string{}
	}
	s.last = v.Failure.ID
	s.count[v.Outcome]++
	if !wrong {
		return
	}
	cause := v.Outcome.String()
	if against, ok := v.Against(); ok {
		cause = string(against.Monitor)
	}
	if s.failures[cause] == nil {
		s.causes = append(s.causes, cause)
	}
	s.failures[cause] = append(s.failures[cause], v.Failure.ID)
}

// String is a line for the counts, and one for each rule whose outcomes were not expected.
func (s *summary) String() string {
	var counts []string
	for _, o := range []Outcome{Broken, Safe, Noticed, Inherent, NotTold, NotPlayed, NotApplicable} {
		if s.count[o] > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", o, s.count[o]))
		}
	}
	text := strings.Join(counts, ", ")
	for _, cause := range s.causes {
		text += fmt.Sprintf("\n%s: %s", cause, strings.Join(s.failures[cause], " "))
	}
	return text
}
