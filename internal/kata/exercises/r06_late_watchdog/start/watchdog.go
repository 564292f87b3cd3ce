package mylock

import (
	"context"
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
func WithoutWatchdog() Option { return func(m *Mutex) { m.watchdog = nil } }

// renewScript gives the key its whole lease again, but only while it still has
// this owner's value: never extend somebody else's lock.
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

	cancel context.CancelFunc // ends the renewals under way; nil while there are none
	ended  chan struct{}      // closed when they have ended
}

// start begins to renew for this owner. It is running when start returns: an
// Unlock that comes at once finds something to stop.
func (w *watchdog) start(value string) {
	if w == nil {
		return
	}
	w.stop() // of a hold that was lost and never unlocked
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan struct{})
	go w.renew(ctx, value, w.ended)
}

// stop ends the renewals and waits until they have ended, so that none can come
// after what the caller does next.
func (w *watchdog) stop() {
	if w == nil || w.cancel == nil {
		return
	}
	w.cancel()
	<-w.ended
	w.cancel = nil
}

// renew renews every third of the lease: after one that fails there is one more.
// It ends when it is stopped, or when Redis says that the lock is gone; an error
// does not end it. That the lock is gone, it tells nobody.
func (w *watchdog) renew(ctx context.Context, value string, ended chan<- struct{}) {
	defer close(ended)
	ticker := time.NewTicker(w.ttl)
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
