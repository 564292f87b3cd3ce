package stage6

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// shortestRenewed is the shortest lease that can be renewed in time: each third of
// it has to be long enough for a command to Redis.
const shortestRenewed = 30 * time.Millisecond

// Option configures a Mutex.
type Option func(*Mutex)

// WithoutWatchdog turns the renewals off: the lease ends after the ttl, even if
// the work is not done.
func WithoutWatchdog() Option { return func(m *Mutex) { m.renewed = false } }

// renewScript gives the key its whole lease again, but only while this owner
// holds the lock: it must never extend another owner's lock.
//
// KEYS[1] the lock's key
// ARGV[1] the owner
// ARGV[2] the lease in milliseconds
//
// Returns 1 if the lease was renewed, 0 if this owner no longer holds the lock.
var renewScript = redis.NewScript(`-- renew
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then
	return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
`)

// watchdog renews the lease of one owner, and ends its context when it is lost.
type watchdog struct {
	*Mutex
	owner string
	end   context.CancelCauseFunc // ends the first hold's context
	lost  atomic.Bool
	until time.Time   // the lease lasts at least until then
	lease *time.Timer // fires then

	cancel context.CancelFunc // ends the renewals
	ended  chan struct{}      // closed when they have ended
}

// watch starts the watchdog of a lease whose acquire was sent at that time. It is
// running when watch returns, so that an immediate Unlock can stop it.
func (m *Mutex) watch(owner string, sent time.Time, end context.CancelCauseFunc) *watchdog {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watchdog{Mutex: m, owner: owner, end: end, cancel: cancel, ended: make(chan struct{})}
	// Redis counts from when a command arrives, so this timer is never late. It is
	// independent of the renewals: a stuck renewal does not delay it.
	w.until = sent.Add(m.ttl)
	w.lease = time.AfterFunc(time.Until(w.until), w.lose)
	if m.renewed {
		go w.renew(ctx)
	} else {
		close(w.ended)
	}
	return w
}

// lose ends the context, because another client holds the lock, or may hold it.
func (w *watchdog) lose() {
	w.lost.Store(true)
	w.end(ErrLost)
	w.cancel()
}

// stop ends the renewals and waits for a renewal under way, so that none can
// reach Redis after the caller's next command.
func (w *watchdog) stop() {
	w.cancel()
	<-w.ended
	w.lease.Stop()
}

// renew renews the lease every third of it, so that one failed renewal is not a
// loss. It ends when it is stopped, or when the lock is lost. An error does not
// end it, but the lease counts from the last renewal that Redis answered.
func (w *watchdog) renew(ctx context.Context) {
	defer close(w.ended)
	ticker := time.NewTicker(w.ttl / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if time.Until(w.until) <= 0 {
			return // the timer reports the loss
		}
		attempt, cancel := context.WithTimeout(ctx, w.ttl/3)
		sent := time.Now()
		renewed, err := renewScript.Run(attempt, w.rdb, []string{w.key}, w.owner, w.ttl.Milliseconds()).Int()
		cancel()
		if err == nil && renewed == 0 || isWrongType(err) {
			w.lose()
			return
		}
		if err == nil {
			w.until = sent.Add(w.ttl)
			w.lease.Reset(time.Until(w.until))
		}
	}
}
