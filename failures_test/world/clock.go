package world

import (
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Clock controls how time passes in a world.
type Clock interface {
	// Limits returns what a scenario can rely on with a lease of that length.
	Limits(lease time.Duration) Limits
	// Rest waits until the clients have nothing more to do at this moment. It returns false if wake
	// received something first. late is the longest delay that the machine added.
	Rest(wake <-chan struct{}) (atRest bool, late time.Duration)
	// Timeouts adapts the timeouts of a client to the lease.
	Timeouts(o *redis.Options, lease time.Duration)
	// Linger waits, by calling pass, until goroutines of a lock with that lease have had time to
	// end.
	Linger(lease time.Duration, pass func(time.Duration))
}

// Limits are the accuracies of a clock.
type Limits struct {
	LongSilence time.Duration // after it the lock's own goroutines have finished what they did
	Blur        time.Duration // moments closer than this count as equal
	Slack       time.Duration // how late an event may be; 0 only in fake time
}

// bubbleTime is the fake time of a synctest bubble.
type bubbleTime struct{}

func (bubbleTime) Limits(time.Duration) Limits { return Limits{LongSilence: time.Hour} }

func (bubbleTime) Rest(<-chan struct{}) (atRest bool, late time.Duration) {
	synctest.Wait()
	return true, 0
}

func (bubbleTime) Timeouts(*redis.Options, time.Duration) {}

func (bubbleTime) Linger(_ time.Duration, pass func(time.Duration)) { pass(time.Second) }
