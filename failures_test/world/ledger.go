package world

import (
	"slices"

	"lockkata/failures_test/trace"
)

// Ledger is the resource that the lock protects: orders with unique names. A client checks that a
// name is free and then inserts it. If two clients hold the lock at once, both can find the name
// free: two orders with one name show the damage.
//
// A ledger with a [Guard] refuses some orders itself. Without a guard it accepts everything.
type Ledger struct {
	guard   Guard
	pieces  int // how many there are of each item, with a StockGuard
	orders  []trace.Order
	open    map[string][]trace.Order // client → the inserts of its transaction
	read    map[string]int           // client → the version that it read last
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
	// StockGuard has some pieces of each item. An insert takes one, as long as there is one.
	StockGuard Guard = "conditional update"
	// IdempotencyGuard does a request once, whatever it orders, and answers each repetition with the
	// first result.
	IdempotencyGuard Guard = "idempotency key"
)

// check returns whether a name is free. It checks the token too: otherwise the next holder could
// find a name free that a late writer takes afterwards.
func (l *Ledger) check(o trace.Order) trace.Answer {
	answer := trace.Answer{Kind: trace.Free}
	if l.count(o.Name) >= l.pieces || slices.ContainsFunc(l.open[o.Client], func(mine trace.Order) bool { return mine.Name == o.Name }) {
		answer.Kind = trace.Taken
	}
	switch l.guard {
	case TokenGuard:
		if refusal, refused := l.refuse(o); refused {
			return refusal
		}
	case VersionGuard:
		l.read[o.Client] = l.version()
		answer.Version = l.version()
	}
	return answer
}

// version returns a number that grows with each order.
func (l *Ledger) version() int { return len(l.orders) + 1 }

// count returns how many orders have that name.
func (l *Ledger) count(name string) (n int) {
	for _, o := range l.orders {
		if o.Name == name {
			n++
		}
	}
	return n
}

// insert adds an order. In a transaction only its own client sees it until the commit.
func (l *Ledger) insert(o trace.Order) trace.Answer {
	if refusal, refused := l.refuse(o); refused {
		return refusal
	}
	if rows, open := l.open[o.Client]; open {
		l.open[o.Client] = append(rows, o)
		return trace.Answer{Kind: trace.Pending}
	}
	l.orders = append(l.orders, o)
	return trace.Answer{Kind: trace.Inserted}
}

// begin begins a transaction of a client.
func (l *Ledger) begin(o trace.Order) trace.Answer {
	l.open[o.Client] = nil
	return trace.Answer{Kind: trace.Begun}
}

// commit ends a client's transaction: its orders become visible to all, or the guard refuses them.
func (l *Ledger) commit(o trace.Order) trace.Answer {
	rows := l.open[o.Client]
	delete(l.open, o.Client)
	for _, row := range rows {
		if refusal, refused := l.refuse(row); refused {
			return refusal
		}
	}
	l.orders = append(l.orders, rows...)
	return trace.Answer{Kind: trace.Committed}
}

// refuse returns the guard's answer to an order that it does not accept.
func (l *Ledger) refuse(o trace.Order) (refusal trace.Answer, refused bool) {
	switch l.guard {
	case TokenGuard:
		if o.Token < l.highest || o.Token == l.highest && o.Client != l.holder {
			return trace.Answer{Kind: trace.StaleToken, Token: o.Token, Newest: l.highest}, true
		}
		l.highest, l.holder = o.Token, o.Client
	case UniqueGuard:
		return trace.Answer{Kind: trace.NameTaken}, l.count(o.Name) > 0
	case VersionGuard:
		return trace.Answer{Kind: trace.StaleVersion, Read: o.Version, Version: l.version()}, o.Version != l.version()
	case StockGuard:
		return trace.Answer{Kind: trace.NoneLeft}, l.count(o.Name) >= l.pieces
	case IdempotencyGuard:
		if first := slices.IndexFunc(l.orders, func(done trace.Order) bool { return done.Request == o.Request }); first >= 0 {
			return trace.Answer{Kind: trace.DoneBefore, Before: l.orders[first]}, true
		}
	}
	return trace.Answer{}, false
}
