package stage5

import (
	"context"
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
func WithoutWatchdog() Option { return func(m *Mutex) { m.watchdog = nil } }

// renewScript gives the key its whole lease again, but only while it still has
// this owner's value: it must never extend another owner's lock.
//
// KEYS[1] the lock's key
// ARGV[1] the owner's value
// ARGV[2] the lease in milliseconds
//
// Returns 1 if the lease was renewed, 0 if this owner no longer holds the lock.
var renewScript = redis.NewScript(`-- renew
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
`)

// watchdog renews the lease of one lock while it is held. A nil watchdog does
// nothing.
type watchdog struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration

	cancel context.CancelFunc // ends the renewals; nil while no watchdog runs
	ended  chan struct{}      // closed when they have ended
}

// start begins the renewals for this owner. The watchdog is running when start
// returns, so that an immediate Unlock can stop it.
func (w *watchdog) start(value string) {
	if w == nil {
		return
	}
	w.stop() // the watchdog of a hold that was lost and never unlocked
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan struct{})
	go w.renew(ctx, value, w.ended)
}

// stop ends the renewals and waits for a renewal under way, so that none can
// reach Redis after the caller's next command.
func (w *watchdog) stop() {
	if w == nil || w.cancel == nil {
		return
	}
	w.cancel()
	<-w.ended
	w.cancel = nil
}

// renew renews the lease every third of it, so that one failed renewal is not a loss.
// It ends when it is stopped, or when Redis answers that the owner no longer holds
// the lock; an error does not end it. It does not report the loss to the holder.
func (w *watchdog) renew(ctx context.Context, value string, ended chan<- struct{}) {
	defer close(ended)
	ticker := time.NewTicker(w.ttl / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		attempt, cancel := context.WithTimeout(ctx, w.ttl/3)
		renewed, err := renewScript.Run(attempt, w.rdb, []string{w.key}, value, w.ttl.Milliseconds()).Int()
		cancel()
		if err == nil && renewed == 0 {
			return
		}
	}
}
