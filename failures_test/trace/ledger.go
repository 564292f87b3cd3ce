package trace

import (
	"fmt"
)

// Answer is the ledger's answer to an operation.
type Answer struct {
	Kind    AnswerKind `json:"kind"`
	Version int        `json:"version,omitempty"` // of the ledger, if it has versions
	Read    int        `json:"read,omitempty"`    // of StaleVersion: the version that the client had read
	Token   int64      `json:"token,omitempty"`   // of StaleToken: the client's
	Newest  int64      `json:"newest,omitempty"`  // of StaleToken: the highest token so far
	Before  Order      `json:"before,omitzero"`   // of DoneBefore: the order that is there
}

// AnswerKind is what an answer says.
type AnswerKind string

// The kinds of answers.
const (
	Free         AnswerKind = "free"
	Taken        AnswerKind = "taken"
	Inserted     AnswerKind = "inserted" // the order is there
	Pending      AnswerKind = "inserted, not committed"
	Begun        AnswerKind = "begun"
	Committed    AnswerKind = "done"
	NameTaken    AnswerKind = "refused: the name is taken (unique key)"
	NoneLeft     AnswerKind = "0 rows: none left"
	StaleToken   AnswerKind = "refused, stale token"
	StaleVersion AnswerKind = "refused, stale version"
	DoneBefore   AnswerKind = "done before"
)

// String returns the answer in English.
func (a Answer) String() string {
	switch {
	case a.Kind == StaleToken:
		return fmt.Sprintf("refused: token %d, seen %d", a.Token, a.Newest)
	case a.Kind == StaleVersion:
		return fmt.Sprintf("refused: version %d, now %d", a.Read, a.Version)
	case a.Kind == DoneBefore:
		return fmt.Sprintf("request %s done before: %s by %s", a.Before.Request, a.Before.Name, a.Before.Client)
	case a.Version > 0:
		return fmt.Sprintf("%s at version %d", a.Kind, a.Version)
	}
	return string(a.Kind)
}

// Refuses reports whether the ledger's guard refuses the order.
func (a Answer) Refuses() bool {
	switch a.Kind {
	case NameTaken, StaleToken, StaleVersion:
		return true
	}
	return false
}

// AddsNothing reports whether the guard answers a write without adding its order.
func (a Answer) AddsNothing() bool { return a.Kind == NoneLeft || a.Kind == DoneBefore }

// IsStale reports whether the event is the ledger's refusal of a token.
func (e *Event) IsStale() bool { return e.Answer != nil && e.Answer.Kind == StaleToken }
