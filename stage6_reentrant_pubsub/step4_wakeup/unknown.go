package stage6

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// attempts is how often a command is sent whose outcome is unknown, or whose grant comes too late.
const attempts = 3

// refusals are the codes of the errors with which Redis refuses a command. The last four are words that follow
// ERR. Any other error may come from a proxy, which does not know whether Redis has run the command.
var refusals = []string{
	"OOM", "READONLY", "NOSCRIPT", "NOPERM", "NOAUTH", "WRONGPASS", "LOADING", "BUSY", "MASTERDOWN", "MISCONF",
	"NOREPLICAS", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN", "MOVED", "ASK", "EXECABORT", "max number of clients", "unknown command",
	"wrong number of arguments", "invalid expire time",
}

// isRefusal reports whether Redis has not run the command. An error that names user_script is about a
// script that Redis has stopped, at a command that the user may not run or that needs too much memory.
func isRefusal(err error) bool {
	return isWrongType(err) || strings.Contains(err.Error(), "user_script") ||
		slices.ContainsFunc(refusals, func(code string) bool { return redis.HasErrorPrefix(err, code+" ") })
}

// isUnknown reports whether a command that ended with err may have taken effect: it was sent, and not
// refused. A command that still waits for a connection ends with the unwrapped error of its context.
func isUnknown(err error) bool {
	var network *net.OpError
	return !isRefusal(err) && err != context.Canceled && err != context.DeadlineExceeded && !errors.Is(err, redis.ErrPoolTimeout) &&
		!errors.Is(err, redis.ErrClosed) && !(errors.As(err, &network) && network.Op == "dial")
}

// ended returns the error of a ctx that has ended, or nil. Timers that are due at the same moment
// fire in any order, so the deadline decides: Lock must not ask for a caller that has left.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// setCount sets the count of this owner, and reports whether Redis knew the owner.
// It does not use the caller's context, and takes a sixth of the lease at most.
func (m *Mutex) setCount(owner string, count int) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.ttl/6)
	defer cancel()
	mine, err := countScript.Run(ctx, m.rdb, []string{m.key}, owner, count).Bool()
	if isWrongType(err) {
		return false, nil
	}
	return mine, err
}

// cleanUp frees the lock after an attempt of unknown outcome, whose command may
// still reach Redis later. It tries with growing pauses, until it has freed the key
// or the lease has ended. The owner belongs to this attempt only, so no other hold
// can be freed.
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
