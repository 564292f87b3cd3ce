package mylock

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// shortestRenewed is the shortest lease that can be renewed in time: each third of
// it has to be long enough for a command to Redis.
const shortestRenewed = 30 * time.Millisecond

// Option changes what NewMutex makes.
type Option func(*Mutex)

// WithoutWatchdog keeps the lease as it is: it ends after the ttl, whether the
// work is done or not.
func WithoutWatchdog() Option { return func(m *Mutex) { m.renewed = false } }

// renewScript gives the key its whole lease again, but only while it is still
// this owner's: never extend somebody else's lock.
//
// KEYS[1] the lock's key
// ARGV[1] the owner
// ARGV[2] the lease in milliseconds
//
// Returns 1 if the lease was renewed, 0 if this owner no longer holds the lock.
var renewScript = redis.NewScript(`-- renew
if redis.pcall("HEXISTS", KEYS[1], ARGV[1]) == 1 then -- pcall: a key of another type is not this owner's
	return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
`)

// watchdog looks after the lease of one owner: it renews it, and tells of its loss.
type watchdog struct {
	*Mutex
	owner string
	end   context.CancelCauseFunc // ends the first hold's context
	lost  atomic.Bool
	until time.Time   // the lease lasts for certain
	lease *time.Timer // goes off then

	cancel context.CancelFunc // ends the renewals
	ended  chan struct{}      // closed when they have ended
}

// watch looks after the lease that a command sent at that time has begun. It has
// begun when watch returns: an Unlock that comes at once finds something to stop.
func (m *Mutex) watch(owner string, sent time.Time, end context.CancelCauseFunc) *watchdog {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watchdog{Mutex: m, owner: owner, end: end, cancel: cancel, ended: make(chan struct{})}
	// Redis counts from when a command arrives, so this timer is never late. It runs
	// beside the renewals: one that hangs does not delay the news.
	w.until = sent.Add(m.ttl)
	w.lease = time.AfterFunc(time.Until(w.until), w.lose)
	if m.renewed {
		go w.renew(ctx)
	} else {
		close(w.ended)
	}
	return w
}

// lose tells the holder that the lock is somebody else's, or may be.
func (w *watchdog) lose() {
	w.lost.Store(true)
	w.end(ErrLost)
	w.cancel()
}

// stop ends the renewals and waits until they have ended, so that none can come
// after what the caller does next.
func (w *watchdog) stop() {
	w.cancel()
	<-w.ended
	w.lease.Stop()
}

// renew renews every third of the lease: after one that fails there is one more.
// It ends when it is stopped, or when Redis says that the lock is gone; an error
// does not end it, but the lease counts from the last renewal that was answered.
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
			return // the timer tells
		}
		attempt, cancel := context.WithTimeout(ctx, w.ttl/3)
		sent := time.Now()
		renewed, err := renewScript.Run(attempt, w.rdb, []string{w.key}, w.owner, w.ttl.Milliseconds()).Int()
		cancel()
		if err == nil && renewed == 0 {
			w.lose()
			return
		}
		if err == nil {
			w.until = sent.Add(w.ttl)
			w.lease.Reset(time.Until(w.until))
		}
	}
}
