package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ledger is the resource that the locks guard: a counter for each, on a redis-server
// that nobody disturbs.
//
// A fenced ledger refuses a token lower than the highest it has seen, and an equal
// one of another hold, for reads as for writes. Reads must count: else a holder
// that is over could still write, with its old token, between the next holder's
// read and first write, and the next holder's write would undo it.
type ledger struct {
	rdb    *redis.Client
	fenced bool
}

// account reads or writes a counter. KEYS: the counter. ARGV: the hold; its token, 0
// for a ledger that is not fenced; the new value, or "" to read. It returns the
// value and how often it was written, or nothing where it refuses.
var account = redis.NewScript(`
	local now = redis.call("HMGET", KEYS[1], "token", "hold", "value", "writes")
	local token, highest = tonumber(ARGV[2]), tonumber(now[1] or 0)
	if token < highest or (token > 0 and token == highest and now[2] ~= ARGV[1]) then return {} end
	redis.call("HSET", KEYS[1], "token", ARGV[2], "hold", ARGV[1])
	if ARGV[3] == "" then return {tonumber(now[3] or 0), tonumber(now[4] or 0)} end
	redis.call("HSET", KEYS[1], "value", ARGV[3])
	return {tonumber(ARGV[3]), redis.call("HINCRBY", KEYS[1], "writes", 1)}
`)

// read is a hold's read of a counter: its value, and how often it was written. ok is
// false where the hold is refused.
func (l ledger) read(lock int, hold, token int64) (value, writes int64, ok bool) {
	return l.write(lock, hold, token, "")
}

// write is a hold's write of a counter.
func (l ledger) write(lock int, hold, token int64, value any) (now, writes int64, ok bool) {
	if !l.fenced {
		token = 0
	}
	said, err := account.Run(context.Background(), l.rdb, []string{lockName(lock)}, hold, token, value).Int64Slice()
	if err != nil {
		panic(err) // nobody disturbs this server
	}
	if len(said) == 0 {
		return 0, 0, false
	}
	return said[0], said[1], true
}
