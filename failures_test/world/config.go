package world

import (
	"cmp"
	"context"
	"time"
)

// Locker is the lock with one name, as used by one process. Stages 1 to 5 implement it; other locks
// need an adapter.
type Locker interface {
	// Lock waits until the caller holds the lock. It returns an error when ctx is done first, or
	// when it gives up.
	Lock(ctx context.Context) error
	// TryLock makes one attempt. It returns false and no error if another client holds the lock.
	TryLock(ctx context.Context) (bool, error)
	// Unlock frees the lock.
	Unlock(ctx context.Context) error
}

// Fenced is a Locker that hands out a fencing token with each hold.
type Fenced interface {
	// Token returns the token of the caller's hold; 0 while it holds nothing.
	Token(ctx context.Context) int64
}

// Noticing is a Locker that reports to its holder when the hold is lost.
type Noticing interface {
	// Lost returns a channel that is closed when the caller's newest hold ends; isLost then reports
	// whether it was lost. The channel is nil while the caller holds nothing.
	Lost(ctx context.Context) (ended <-chan struct{}, isLost func() bool)
}

// Counting is a re-entrant Locker.
type Counting interface {
	// HoldCount returns how often the caller holds the lock according to Redis.
	HoldCount(ctx context.Context) (int, error)
}

// Forcing is a Locker that an administrator can free from outside.
type Forcing interface {
	// ForceUnlock frees the lock, even another client's, and reports whether it was held.
	ForceUnlock(ctx context.Context) (bool, error)
}

// Constructor returns the lock of one process. Commands that it sends are executed immediately. Package
// adapters makes one from the constructor of a lock that uses go-redis.
type Constructor func(p *Process, name string, lease time.Duration) (Locker, error)

// AttributeTo reports whether a command belongs to a call, and to which client's; "" means any
// client.
type AttributeTo func(args []string) (client string, is bool)

// Config is what a world starts with.
type Config struct {
	New      Constructor
	Servers  int                              // default 1
	Replicas int                              // of a single server
	Around   func(outer, inner Locker) Locker // for a client of two locks: takes outer and then inner
	Lock     string                           // the lock's name; default DefaultLock
	Lease    time.Duration                    // default 30 s
	Guard    Guard                            // of the ledger
	Pieces   int                              // of each item in the ledger, with a StockGuard; default 1
	Client   Settings                         // of the driver of every process
	Scripts  []string                         // Lua scripts that Redis already knows
	Ignore   func(key string) bool            // keys that are not locks: a counter, a queue
	// AttributeTo attributes commands to calls under way, such as those of a goroutine that sends for all callers.
	// Without it those commands are background, as renewals are. A command of a goroutine that a call has started
	// belongs to that call.
	AttributeTo AttributeTo
	// SkipFrames has the prefixes of functions that only pass on the lock's commands, such as a
	// driver or a hook. The line of the lock is above them on the stack.
	SkipFrames []string
}

// DefaultLock is the name of the lock if the config names none.
const DefaultLock = "order:1001"

func (c Config) withDefaults() Config {
	c.Servers, c.Pieces = max(c.Servers, 1), max(c.Pieces, 1)
	c.Lock, c.Lease = cmp.Or(c.Lock, DefaultLock), cmp.Or(c.Lease, 30*time.Second)
	return c
}
