package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// locker is a library's lock as its README says it is used, over a client of its
// own.
type locker struct {
	// pair returns what locks and unlocks the lock of that name once.
	pair func(name string) func(context.Context) error
	// lock waits for the lock.
	lock  func(ctx context.Context, name string) (held, error)
	close func() error
}

// held is a lock that is held.
type held struct {
	unlock func() error
	lost   func() error // nil as long as the library says that it is held
	token  int64        // the fencing token; 0 where there are none
}

// The kinds of lockers.
const (
	stage6Kind  = "stage6"
	pipedKind   = "stage6 auto-pipelined"
	floorKind   = "floor"
	bsmKind     = "redislock"
	redsyncKind = "redsync"
	rueidisKind = "rueidislock"
	loopKind    = "rueidislock default" // as it is without NoLoopTracking
)

// settings say how a locker is made.
type settings struct {
	Addr  string
	Lease time.Duration // 0: the library's own default
	Count bool          // the traffic, where the library's client allows it
}

// open makes a locker. Its traffic is nil where it is not counted: to count costs
// time, which would be the library's.
func open(kind string, s settings) (*locker, *traffic, error) {
	var t *traffic
	if s.Count {
		t = &traffic{}
	}
	var l *locker
	var err error
	switch kind {
	case stage6Kind, pipedKind:
		l, err = openStage6(kind, s, t)
	case floorKind:
		l, err = openFloor(s)
	case bsmKind:
		l = openRedislock(s)
	case redsyncKind:
		l = openRedsync(s)
	case rueidisKind, loopKind:
		l, err = openRueidislock(kind, s)
	default:
		err = fmt.Errorf("bench: there is no locker %q", kind)
	}
	return l, t, err
}

// inside names what the scripts of each library call, and the library itself never
// sends. TestCountsAgreeWithWhatTheServerSaw compares.
func inside(kind string) []string {
	switch kind {
	case bsmKind:
		return []string{"set", "get", "getrange", "del", "pexpire", "pttl"}
	case redsyncKind:
		return []string{"get", "del"}
	case rueidisKind, loopKind:
		return []string{"set", "get", "del", "pexpireat"}
	default:
		return []string{
			"hexists", "exists", "pttl", "get", "time", "hset", "hget", "hdel", "hlen", "set", "pexpire", "del", "publish",
			"zadd", "zrem", "zcard", "zrange", "zpopmin", "zscore", "zrangebyscore", "zremrangebyscore",
		}
	}
}

// goRedis is a client with the options that stage 6 asks for; the others get the
// same.
func goRedis(addr string, t *traffic) *redis.Client {
	options := &redis.Options{Addr: addr, ContextTimeoutEnabled: true}
	if t != nil {
		options.Dialer = t.dial
	}
	return redis.NewClient(options)
}
