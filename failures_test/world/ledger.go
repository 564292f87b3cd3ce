package world

import (
	"fmt"
	"slices"
	"strings"
)

// Ledger is the resource that the lock protects: orders with unique names. A client checks that a
// name is free and then inserts it. If two clients hold the lock at once, both can find the name
// free: two orders with one name show the damage.
//
// A ledger with a [Guard] refuses some orders itself. Without a guard it accepts everything.
type Ledger struct {
	guard   Guard
	orders  []Order
	open    map[string][]Order // client → the inserts of its transaction
	read    map[string]int     // client → the version that it read last
	highest int64
	holder  string // client with the highest token
}

// Guard is the ledger's own protection, independent of the lock.
type Guard string

// The guards.
const (
	NoGuard Guard = ""
	// TokenGuard checks the token of each check and insert. It refuses a token that is lower than
	// the highest so far, or equal to it and from another client.
	TokenGuard Guard = "fencing token"
	// UniqueGuard refuses a name that exists.
	UniqueGuard Guard = "unique key"
	// VersionGuard refuses an insert if the ledger has changed since its client read it.
	VersionGuard Guard = "version"
	// StockGuard has one piece of each order. Only the first insert gets it.
	StockGuard Guard = "conditional update"
	// IdempotencyGuard answers a repeated request with the result of the first.
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

// check returns whether a name is free. It checks the token too: otherwise the next holder could
// find a name free that a late writer takes afterwards.
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

// version returns a number that grows with each order.
func (l *Ledger) version() int { return len(l.orders) + 1 }

// find returns the place of the first order of that name, or -1.
func (l *Ledger) find(name string) int {
	return slices.IndexFunc(l.orders, func(o Order) bool { return o.Name == name })
}

// insert adds an order. In a transaction only its own client sees it until the commit.
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

// commit ends a client's transaction: its orders become visible to all, or the guard refuses them.
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

// refuse returns why the guard refuses an order; "" if it accepts it.
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
