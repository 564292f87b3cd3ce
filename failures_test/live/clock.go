package live

import (
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// clock is real time. label identifies the goroutines of the run.
type clock struct{ label string }

// A client counts as idle when it has sent nothing in several periods in a row. A short pause of
// the machine affects only one of them.
const (
	quietTurns = 3
	quietTurn  = time.Millisecond
)

// Rest waits until the clients have sent nothing for a while.
func (clock) Rest(wake <-chan struct{}) (atRest bool, late time.Duration) {
	timer := time.NewTimer(quietTurn)
	defer timer.Stop()
	for range quietTurns {
		began := time.Now()
		select {
		case <-wake:
			return false, late
		case <-timer.C:
			late = max(late, time.Since(began)-quietTurn)
			timer.Reset(quietTurn)
		}
	}
	return true, late
}

// Limits returns what a busy machine can keep.
func (clock) Limits(lease time.Duration) world.Limits {
	return world.Limits{LongSilence: 3 * lease, Blur: 20 * time.Millisecond, Slack: 200 * time.Millisecond}
}

// Timeouts scales go-redis's timeouts from a lease of 30 s to the lease, but not below a quarter of
// it, for busy machines.
func (clock) Timeouts(o *redis.Options, lease time.Duration) {
	for _, timeout := range []*time.Duration{&o.ReadTimeout, &o.WriteTimeout, &o.DialTimeout, &o.PoolTimeout} {
		if *timeout >= 0 { // negative: no timeout
			*timeout = max(lease/4, *timeout*lease/(30*time.Second))
		}
	}
}

// Linger lets time pass until the scenario's goroutine is the only one of the run.
func (c clock) Linger(lease time.Duration, pass func(time.Duration)) {
	for end := time.Now().Add(lease); time.Now().Before(end) && labelled(c.label) > 1; {
		pass(5 * time.Millisecond)
	}
}
