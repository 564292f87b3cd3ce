package world

import (
	"time"

	"lockkata/failures_test/trace"
)

// Redis is a server of a world. Only the scenario's goroutine calls its methods and those of its
// connections.
type Redis interface {
	// Connect returns a new connection. It must not wait for anything.
	Connect() Conn
	// Now returns the time on the server's clock.
	Now() time.Time
	// Keys returns the keys of the lock, without those for which ignore returns true.
	Keys(ignore func(key string) bool) (map[string]KeyState, error)
	// IsReadOnly reports whether a command, in capitals, has the flag readonly.
	IsReadOnly(command string) bool
	// LoadScript loads a script into Redis.
	LoadScript(source string) error
	// Suffer makes the server undergo a fault: Evicted removes the named keys, ClockJumped moves its clock by
	// d. Faults of a replica name the replica. An error means that this server does not support the fault; it
	// ends the scenario.
	Suffer(fault trace.ServerFault, d time.Duration, names ...string) error
	// Clear removes the lock's keys and ends lasting faults.
	Clear()
	Close()
}

// Conn is a connection of one client to a [Redis].
type Conn interface {
	// Execute runs one command and returns the reply. An error means that the connection is broken.
	Execute(args []string) ([]byte, error)
	// Pushed returns the messages that Redis has pushed, including all that was published before.
	Pushed() []byte
	Close()
}

// publisher is a [Conn] that knows whether its last command, or the script of it, has published a message.
type publisher interface{ Published() bool }

// KeyState is the state of one key.
type KeyState struct {
	Kind    string            // as TYPE answers
	Value   string            // of a string
	Fields  map[string]string // of a hash
	Expires time.Time         // on the server's clock; zero: never
	Leased  bool              // the last command set a lease, even if it ends when the old one did
	Counted bool              // the last command added to its number, as INCR does
}

// isWrite reports whether a command can change a key. Scripts count as writes.
func isWrite(server Redis, name string) bool {
	switch name {
	case "PING", "ECHO", "TIME", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE",
		"MULTI", "WATCH", "UNWATCH", "SCRIPT", "INFO", "COMMAND", "WAIT":
		return false
	}
	return !server.IsReadOnly(name)
}

// Copy copies strings, hashes, lists, sets and sorted sets.
func (e *embedded) Copy() (restore func()) {
	e.tick()
	set := []func(){e.Clear}
	add := func(do func()) { set = append(set, do) }
	for _, name := range e.mini.Keys() {
		value, _ := e.mini.Get(name) // each is empty if the key has another type
		fields, _ := e.mini.HKeys(name)
		items, _ := e.mini.List(name)
		members, _ := e.mini.Members(name)
		scores, _ := e.mini.SortedSet(name)
		switch e.mini.Type(name) {
		case "string":
			add(func() { _ = e.mini.Set(name, value) })
		case "list":
			add(func() { _, _ = e.mini.Push(name, items...) })
		case "set":
			add(func() { _, _ = e.mini.SetAdd(name, members...) })
		}
		for _, field := range fields {
			value := e.mini.HGet(name, field)
			add(func() { e.mini.HSet(name, field, value) })
		}
		for member, score := range scores {
			add(func() { _, _ = e.mini.ZAdd(name, score, member) })
		}
		if ttl := e.mini.TTL(name); ttl > 0 {
			ends := e.Now().Add(ttl)
			add(func() {
				if e.mini.SetTTL(name, ends.Sub(e.Now())); !e.Now().Before(ends) {
					e.mini.Del(name)
				}
			})
		}
	}
	return func() {
		for _, do := range set {
			do()
		}
	}
}
