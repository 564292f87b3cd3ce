package world

import (
	"fmt"
	"slices"
	"strings"
)

// Ledger is the resource that the lock protects: orders whose names must be
// unique. A client checks that a name is free and then inserts it. Two clients
// inside the lock at once can both find the name free: two orders of one name
// are the damage that one can see.
//
// A fenced ledger also looks at the token that comes with each check and insert,
// and refuses one that is lower than the highest it has seen, or the same from
// another client. A plain ledger takes everything.
type Ledger struct {
	fenced  bool
	orders  []Order
	highest int64
	holder  string // who brought the highest token
}

// Inserted is the ledger's answer to an order that it takes.
const Inserted = "inserted"

const refusedPrefix = "refused: "

// IsStale reports whether the event is the ledger's refusal of a token.
func (e *Event) IsStale() bool { return e.Kind == Stored && strings.HasPrefix(e.Reply, refusedPrefix) }

// check tells whether a name is free. A token counts from the first look: the next
// holder may have seen that a name is free before a late writer takes it.
func (l *Ledger) check(o Order) string {
	if refusal := l.refuse(o); refusal != "" {
		return refusal
	}
	name := o.Name
	if slices.ContainsFunc(l.orders, func(o Order) bool { return o.Name == name }) {
		return "taken"
	}
	return "free"
}

func (l *Ledger) insert(o Order) string {
	if refusal := l.refuse(o); refusal != "" {
		return refusal
	}
	l.orders = append(l.orders, o)
	return Inserted
}

// refuse looks at the token, and says why it is refused; "" if it is not.
func (l *Ledger) refuse(o Order) string {
	if !l.fenced {
		return ""
	}
	if o.Token < l.highest || o.Token == l.highest && o.Client != l.holder {
		return fmt.Sprintf(refusedPrefix+"token %d, seen %d", o.Token, l.highest)
	}
	l.highest, l.holder = o.Token, o.Client
	return ""
}
