package trace

import (
	"slices"
	"strings"
)

// The ledger's answers.
const (
	Free      = "free"
	Taken     = "taken"
	Inserted  = "inserted" // the order is there
	Pending   = "inserted, not committed"
	Begun     = "begun"
	Committed = "done"
	NameTaken = "refused: the name is taken (unique key)"
	NoneLeft  = "0 rows: none left"
)

// The ledger's answers that name something, as formats of fmt.
const (
	StaleToken   = "refused: token %d, seen %d"
	StaleVersion = "refused: version %d, now %d"
	AtVersion    = "%s at version %d" // after Free or Taken
	DoneBefore   = "done before: %s by %s"
)

// IsStale reports whether the event is the ledger's refusal of a token.
func (e *Event) IsStale() bool {
	return e.Kind == Stored && strings.HasPrefix(e.Reply, "refused: token ")
}

// IsGuarded reports whether the event is the refusal of the ledger's guard.
func (e *Event) IsGuarded() bool {
	return e.IsStale() || e.Kind == Stored && e.Op != OpCheck && !slices.Contains([]string{Inserted, Pending, Begun, Committed}, e.Reply)
}
