package world

import (
	"iter"
	"time"
)

// redisServer is the Redis of a world: embedded, or a process of its own.
type redisServer interface {
	// newLink makes a wire's connection to it. It must not wait for anything.
	newLink() link
	// read takes stock of every key of the lock's.
	read(ignore func(key string) bool) map[string]keyState
	// now is the time on its clock.
	now() time.Time
	isReadOnly(command string) bool
	loadScript(source string) error
	// settlePushes waits until what was published has reached the subscribers' links.
	settlePushes(wires iter.Seq[*wire])

	evict(names ...string) error
	flushAll() error
	flushScripts() error
	restart() error
	failover() error
	fillMemory() error
	jump(d time.Duration) error
	// clear removes what the lock left.
	clear()
	close()
}

// link is a wire's own connection to Redis.
type link interface {
	// execute runs one command and returns what Redis answered. An error means that
	// the connection is gone.
	execute(args []string) ([]byte, error)
	// pushed returns what Redis wrote beside its answers.
	pushed() []byte
	// unsubscribe ends the connection's subscriptions: its client has hung up.
	unsubscribe()
	close()
}

// isWrite tells whether a command can change who has the key. Scripts count as writes.
func isWrite(server redisServer, name string) bool {
	switch name {
	case "PING", "ECHO", "TIME", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE",
		"MULTI", "WATCH", "UNWATCH", "SCRIPT", "INFO", "COMMAND":
		return false
	}
	return !server.isReadOnly(name)
}
