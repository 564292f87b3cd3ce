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
// A ledger with a [Guard] refuses an order by itself. One without takes everything.
type Ledger struct {
	guard   Guard
	orders  []Order
	open    map[string][]Order // client → what its transaction has inserted so far
	read    map[string]int     // client → the version that it has read last
	highest int64
	holder  string // who brought the highest token
}

// Guard is how the ledger protects its orders, whatever the lock does.
type Guard string

// The guards.
const (
	NoGuard Guard = ""
	// TokenGuard looks at the token of each check and insert. It refuses one that is lower than the
	// highest that it has seen, or the same from another client.
	TokenGuard Guard = "fencing token"
	// UniqueGuard refuses a name that is taken.
	UniqueGuard Guard = "unique key"
	// VersionGuard refuses an insert if the ledger has changed since its client read it.
	VersionGuard Guard = "version"
	// StockGuard has one piece of each order, and takes it only if it is still there.
	StockGuard Guard = "conditional update"
	// IdempotencyGuard answers a request that was done before with its first result.
	IdempotencyGuard Guard = "idempotency key"
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

// The operations of a transaction of the ledger.
const (
	OpBegin  = "Begin"
	OpCommit = "Commit"
)

// IsStore reports whether a call of that name goes to the ledger.
func IsStore(op string) bool {
	return slices.Contains([]string{OpCheck, OpInsert, OpBegin, OpCommit}, op)
}

// check tells whether a name is free. A token counts from the first look: the next
// holder may have seen that a name is free before a late writer takes it.
func (l *Ledger) check(o Order) string {
	answer := Free
	if l.find(o.Name) >= 0 || slices.ContainsFunc(l.open[o.Client], func(mine Order) bool { return mine.Name == o.Name }) {
		answer = Taken
	}
	switch l.guard {
	case TokenGuard:
		if refusal := l.refuse(o); refusal != "" {
			return refusal
		}
	case VersionGuard:
		l.read[o.Client] = l.version()
		return fmt.Sprintf(AtVersion, answer, l.version())
	}
	return answer
}

// version rises with each order.
func (l *Ledger) version() int { return len(l.orders) + 1 }

// find returns the place of the first order of that name; -1 if there is none.
func (l *Ledger) find(name string) int {
	return slices.IndexFunc(l.orders, func(o Order) bool { return o.Name == name })
}

// insert adds an order. Inside a transaction only its client sees it until the commit.
func (l *Ledger) insert(o Order) string {
	if refusal := l.refuse(o); refusal != "" {
		return refusal
	}
	if rows, open := l.open[o.Client]; open {
		l.open[o.Client] = append(rows, o)
		return Pending
	}
	l.orders = append(l.orders, o)
	return Inserted
}

// begin begins a transaction of a client.
func (l *Ledger) begin(o Order) string {
	l.open[o.Client] = nil
	return Begun
}

// commit ends a client's transaction: its orders are there for all, or the guard refuses it.
func (l *Ledger) commit(o Order) string {
	rows := l.open[o.Client]
	delete(l.open, o.Client)
	for _, row := range rows {
		if refusal := l.refuse(row); refusal != "" {
			return refusal
		}
	}
	l.orders = append(l.orders, rows...)
	return Committed
}

// refuse returns why the guard refuses an order; "" if it does not.
func (l *Ledger) refuse(o Order) string {
	at := l.find(o.Name)
	switch {
	case l.guard == TokenGuard && (o.Token < l.highest || o.Token == l.highest && o.Client != l.holder):
		return fmt.Sprintf(StaleToken, o.Token, l.highest)
	case l.guard == TokenGuard:
		l.highest, l.holder = o.Token, o.Client
	case l.guard == VersionGuard && o.Version != l.version():
		return fmt.Sprintf(StaleVersion, o.Version, l.version())
	case at < 0:
	case l.guard == UniqueGuard:
		return NameTaken
	case l.guard == StockGuard:
		return NoneLeft
	case l.guard == IdempotencyGuard:
		return fmt.Sprintf(DoneBefore, o.Name, l.orders[at].Client)
	}
	return ""
}
