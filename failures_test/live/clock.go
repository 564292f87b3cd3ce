package live

import (
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// clock is real time. Label marks the goroutines of the run.
type clock struct{ label string }

// A client is at rest when nothing has come from it for so many turns in a row. A
// machine that stands still for a moment spoils one of them, not all.
const (
	quietTurns = 3
	quietTurn  = time.Millisecond
)

// Rest waits until nothing has come from the clients for a while.
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

// Limits returns what a busy machine keeps.
func (clock) Limits(lease time.Duration) world.Limits {
	return world.Limits{LongSilence: 3 * lease, Blur: 20 * time.Millisecond, Slack: 200 * time.Millisecond}
}

// Timeouts keeps the proportion of go-redis's own to a lease of 30 s, as far as a
// busy machine allows: a timeout ends before a third of the lease does.
func (clock) Timeouts(o *redis.Options, lease time.Duration) {
	for _, timeout := range []*time.Duration{&o.ReadTimeout, &o.WriteTimeout, &o.DialTimeout, &o.PoolTimeout} {
		if *timeout >= 0 { // a negative one is none
			*timeout = max(lease/4, *timeout*lease/(30*time.Second))
		}
	}
}

// Linger lets time pass until no goroutine of the run but the scenario's own is left.
func (c clock) Linger(lease time.Duration, pass func(time.Duration)) {
	for end := time.Now().Add(lease); time.Now().Before(end) && labelled(c.label) > 1; {
		pass(5 * time.Millisecond)
	}
}
