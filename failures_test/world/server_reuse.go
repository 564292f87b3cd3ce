package world

import (
	"runtime"
	"slices"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

// A new miniredis registers some 250 commands, which takes as long as half a short
// run. So worlds hand theirs on: empty, on a new clock, and with nothing in it that
// a command could find. INFO alone goes on counting. A Redis that was asked for
// anything beyond leavesNothing is not handed on.

// used is how many worlds may have the same Redis: it keeps the names of keys.
const used = 1000

var idle = sync.Pool{} // of *embedded

// takeEmbedded returns a Redis that nobody has, and that knows these scripts if it
// knows any. It belongs outside a bubble: in there, start sets its clock.
func takeEmbedded(scripts []string) (*embedded, error) {
	e, ok := idle.Get().(*embedded)
	if !ok {
		return newEmbedded()
	}
	if !slices.Equal(e.loaded, scripts) {
		if err := e.flushScripts(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// handOn leaves the Redis, which is closed, to another world if it can. Its own
// world must have ended well: no goroutine of it is left.
func (e *embedded) handOn() {
	if !e.spent {
		e.renew()
		idle.Put(e)
	}
}

func (e *embedded) renew() {
	e.worlds++
	e.skew, e.full, e.heard = 0, false, false
}

// close ends the Redis, unless it can be handed on.
func (e *embedded) close() {
	e.clear()
	if e.spent = e.spent || e.isHeard() || e.worlds+1 >= used; e.spent {
		e.mini.Close()
		return
	}
	if e.strange {
		_ = e.flushScripts() // an embedded Redis does not refuse it
	}
}

// isHeard tells whether somebody still listens.
func (e *embedded) isHeard() bool {
	return e.heard && (len(e.mini.PubSubChannels("*")) > 0 || e.mini.PubSubNumPat() > 0)
}

// before sees each command just before miniredis runs it, also those of scripts.
func (e *embedded) before(c *server.Peer, command string, args ...string) bool {
	if givesLease[command] && len(args) > 0 {
		e.leased = append(e.leased, args[0])
	}
	e.spent = e.spent || !slices.Contains(leavesNothing, command)
	e.heard = e.heard || isSubscribe(command)
	return e.full && e.refuse(c, command)
}

// leavesNothing are commands after which nothing is left but keys, scripts,
// subscriptions, and what belongs to a connection. Not among them: commands that
// wait, since they leave a channel of their bubble behind.
var leavesNothing = []string{
	"DISCARD", "ECHO", "EVAL", "EVALSHA", "EXEC", "HELLO", "MULTI", "PING", "SCRIPT", "TIME", "UNWATCH", "WATCH",
	"DEL", "EXISTS", "EXPIRE", "FLUSHALL", "KEYS", "PERSIST", "PEXPIRE", "PEXPIREAT", "PTTL", "TTL", "TYPE", "UNLINK",
	"DECR", "GET", "GETDEL", "GETEX", "GETSET", "INCR", "INCRBY", "MGET", "PSETEX", "SET", "SETEX", "SETNX",
	"HDEL", "HEXISTS", "HGET", "HGETALL", "HINCRBY", "HLEN", "HMGET", "HSET", "HSETNX",
	"LLEN", "LPOP", "LPUSH", "LRANGE", "LREM", "RPOP", "RPUSH", "SADD", "SISMEMBER", "SMEMBERS", "SREM",
	"ZADD", "ZCARD", "ZCOUNT", "ZPOPMIN", "ZRANGE", "ZRANGEBYSCORE", "ZRANK", "ZREM", "ZREMRANGEBYSCORE", "ZSCORE",
	"PSUBSCRIBE", "PUBLISH", "PUBSUB", "PUNSUBSCRIBE", "SUBSCRIBE", "UNSUBSCRIBE",
}

// waitForGoodbye waits until the connection that started the server has gone.
func waitForGoodbye(s *server.Server) {
	for s.ClientsLen() > 0 {
		runtime.Gosched()
	}
}
