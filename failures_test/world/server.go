package world

import "time"

// Redis is the server of a world. Only the goroutine of the scenario calls its methods and those
// of its connections.
type Redis interface {
	// Connect returns a new connection. It must not wait for anything.
	Connect() Conn
	// Now returns the time on the server's clock.
	Now() time.Time
	// Keys returns the keys of the lock, but for those that ignore names.
	Keys(ignore func(key string) bool) (map[string]KeyState, error)
	// IsReadOnly reports whether a command, in capitals, has the flag readonly.
	IsReadOnly(command string) bool
	// LoadScript makes Redis know a script.
	LoadScript(source string) error

	// The faults. An error ends the scenario: this server cannot do that.

	FillMemory() error
	Evict(keys ...string) error
	FlushAll() error
	FlushScripts() error
	Restart() error
	Failover() error
	JumpClock(by time.Duration) error

	// Clear removes the lock's keys and ends a fault that lasts.
	Clear()
	Close()
}

// Conn is a connection of one client to a [Redis].
type Conn interface {
	// Execute runs one command and returns what Redis answered. An error means that
	// the connection is gone.
	Execute(args []string) ([]byte, error)
	// Pushed returns what Redis has written to this subscriber besides answers, all that was
	// published before included.
	Pushed() []byte
	Close()
}

// KeyState is what Redis holds under one key.
type KeyState struct {
	Kind    string            // as TYPE answers
	Value   string            // of a string
	Fields  map[string]string // of a hash: owner → count
	Expires time.Time         // on the server's clock; zero: never
	Leased  bool              // the last command gave it a lease, also one that ends when its old one did
}

// isWrite tells whether a command can change who has the key. Scripts count as writes.
func isWrite(server Redis, name string) bool {
	switch name {
	case "PING", "ECHO", "TIME", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE",
		"MULTI", "WATCH", "UNWATCH", "SCRIPT", "INFO", "COMMAND":
		return false
	}
	return !server.IsReadOnly(name)
}
