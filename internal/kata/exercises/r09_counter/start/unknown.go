package mylock

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// attempts is how often a command is sent whose outcome is unknown, or whose grant comes too late.
const attempts = 3

// refusals begin the answers of Redis to a command that it has not run, the last five behind ERR.
// Any other error may be the word of a proxy, which does not know what Redis has done.
var refusals = []string{
	"OOM", "READONLY", "NOSCRIPT", "NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE", "LOADING", "BUSY", "MASTERDOWN", "MISCONF",
	"NOREPLICAS", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN", "MOVED", "ASK", "EXECABORT", "max number of clients", "unknown command",
	"wrong number of arguments", "invalid expire time", "The user executing the script",
}

// isRefusal reports whether Redis has not run the command.
func isRefusal(err error) bool {
	return slices.ContainsFunc(refusals, func(words string) bool { return redis.HasErrorPrefix(err, words) })
}

// isUnknown reports whether a command that ended with err may have taken effect: it was sent, and
// not refused. One that waits for a connection ends with the plain error of its context.
func isUnknown(err error) bool {
	var network *net.OpError
	return !isRefusal(err) && err != context.Canceled && err != context.DeadlineExceeded && !errors.Is(err, redis.ErrPoolTimeout) &&
		!errors.Is(err, redis.ErrClosed) && !(errors.As(err, &network) && network.Op == "dial")
}

// ended is why ctx is over, nil if it is not. Timers that go off at one moment do so
// in any order, so the deadline decides: nobody asks for a caller that has gone.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// setCount sets the count of this owner, and tells whether it was in Redis. It takes
// a sixth of the lease at most, whatever became of the caller's context.
func (m *Mutex) setCount(owner string, count int) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.ttl/6)
	defer cancel()
	return countScript.Run(ctx, m.rdb, []string{m.key}, owner, count).Bool()
}

// cleanUp frees what an attempt of unknown outcome has got, or will get: its command
// may be on its way for longer than its caller waited. So it tries, less and less
// often, until it has found something or the lease would be over. The owner is that
// attempt's alone: nobody else's hold is in danger.
func (m *Mutex) cleanUp(owner string) {
	last := time.Now().Add(m.ttl * 5 / 6) // a try takes a sixth at most
	for wait := m.ttl / 60; ; wait *= 2 {
		freed, _ := m.setCount(owner, 0)
		if freed || !time.Now().Before(last) {
			return
		}
		time.Sleep(min(wait, time.Until(last)))
	}
}
