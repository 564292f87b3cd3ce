package failures

import (
	"cmp"
	"fmt"

	"lockkata/internal/i18n"
)

// Outcome is what a failure does to a lock.
type Outcome byte

// The outcomes.
const (
	Broken        Outcome = 'x' // the failure shows
	Safe          Outcome = 'o' // it does not
	Noticed       Outcome = 'n' // the hold is lost, and its owner is told; see [Failure.Loss]
	Limit         Outcome = 'i' // it shows, and no lock over one server can prevent it
	NotApplicable Outcome = '-' // the lock lacks what the failure is about
	Elsewhere     Outcome = 'w' // it was not run: only the controlled world can run it
	NotTested     Outcome = 'u' // no rule is broken, but a precondition of the failure was not met
	NotPlayed     Outcome = '!' // the run did not end, and no rule is broken up to there
)

// IsGood reports whether the lock survives the failure, or the failure does not apply.
func (o Outcome) IsGood() bool { return o == Safe || o == Noticed || o == NotApplicable }

var outcomeIDs = map[Outcome]string{
	Broken: "broken", Safe: "safe", Noticed: "noticed", Limit: "limit", NotApplicable: "not applicable",
	Elsewhere: "world only", NotTested: "not tested", NotPlayed: "not played",
}

// String returns the id of an outcome.
func (o Outcome) String() string { return cmp.Or(outcomeIDs[o], outcomeIDs[NotPlayed]) }

// MarshalText returns the outcome's id.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText sets the outcome with an id.
func (o *Outcome) UnmarshalText(id []byte) error {
	for outcome, its := range outcomeIDs {
		if its == string(id) {
			*o = outcome
			return nil
		}
	}
	return fmt.Errorf("failures: there is no outcome %q", id)
}

// Word returns the outcome in words for readers.
func (o Outcome) Word() i18n.Text {
	if o == Limit {
		return "not by this lock"
	}
	return i18n.Text(o.String())
}
