package game

import (
	"cmp"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/stages"
)

// Taken is the challenge to end a failure's run otherwise: it is taken over after so many
// of its events, with the failure's clients. Without a goal it is the rule that the failure
// is about; without an environment, one process may stand still.
func (s Settings) Taken(c stages.Stage, f failures.Failure, events int) (Challenge, error) {
	if s.Goal == "" {
		s.Goal = about(f, c.Subject)
	}
	s.Env = cmp.Or(s.Env, "pause")
	challenge, err := s.Of(c)
	challenge.From = &schedule.Start{Failure: f, Events: events}
	return challenge, err
}

// about is the property that is nearest to what a failure breaks.
func about(f failures.Failure, s failures.Subject) string {
	for _, p := range schedule.Properties {
		if p.Suits(s) && p.Fenced == f.Fenced && slices.ContainsFunc(p.Breaks, func(m oracle.Monitor) bool { return slices.Contains(f.Breaks, m) }) {
			return p.Name
		}
	}
	return "exclusion"
}
