// Package realredis plays scenarios on a real Redis in real time: it implements [world.Redis]
// (server.go) and [world.Clock]. [NewClient] and [NewLock] use a real Redis without a world. The
// package needs go-redis, which takes long to compile, and does not know the catalogue; package live
// knows the catalogue, and does not need go-redis.
package realredis

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Run plays a scenario in real time. The default lease is a second. On a shared Redis the lock has a
// random name. Run returns [ErrShared] if this server cannot play the scenario, and [ErrNotLive] if no
// real server can.
func (p *Process) Run(config world.Config, scenario func(*world.World)) (tr *trace.Trace, err error) {
	if !p.isOurs() {
		config.Lock = "lockkata:" + uuid.NewString()
	}
	config.Lock, config.Lease = cmp.Or(config.Lock, world.DefaultLock), cmp.Or(config.Lease, time.Second)
	server, err := newServer(p, config.Lock, config.Replicas)
	if err != nil {
		return nil, fmt.Errorf("realredis: Redis at %s: %w", p.addr(), err)
	}
	withLabel(func(label string) {
		tr, err = world.RunOn([]world.Redis{server}, clock{label, cmp.Or(p.Quiet, time.Millisecond)}, config, scenario)
		if n := labelled(label) - 1; n > 0 && err == nil {
			err = fmt.Errorf("realredis: %w: %d of them", world.ErrLeft, n)
		}
	})
	return tr, err
}

// clock is real time. label identifies the goroutines of the run.
type clock struct {
	label string
	quiet time.Duration
}

// A client counts as idle when it has sent nothing in that many periods in a row. A short pause of
// the machine affects only one of them.
const quietTurns = 3

// Rest waits until the clients have sent nothing for a while.
func (c clock) Rest(wake <-chan struct{}) (atRest bool, late time.Duration) {
	timer := time.NewTimer(c.quiet)
	defer timer.Stop()
	for range quietTurns {
		began := time.Now()
		select {
		case <-wake:
			return false, late
		case <-timer.C:
			late = max(late, time.Since(began)-c.quiet)
			timer.Reset(c.quiet)
		}
	}
	return true, late
}

// Limits returns what a busy machine can keep.
func (clock) Limits(lease time.Duration) world.Limits {
	return world.Limits{LongSilence: 3 * lease, Blur: 20 * time.Millisecond, Slack: 200 * time.Millisecond}
}

// Timeouts scales the timeouts from a lease of 30 s to the lease, but not below a quarter of it, for busy
// machines.
func (clock) Timeouts(s *world.Settings, lease time.Duration) {
	for _, timeout := range []*time.Duration{&s.ReadTimeout, &s.Timeout} {
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

// labelKey is the profiler label of a run. Goroutines inherit it, so it identifies them in real
// time, where there is no bubble.
const labelKey = "lockkata live"

var runs atomic.Int64

// withLabel runs f with a label for all goroutines that f starts.
func withLabel(f func(label string)) {
	label := strconv.FormatInt(runs.Add(1), 10)
	pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) { f(label) })
}

// withoutLabel runs f without the label.
func withoutLabel(f func() error) error {
	done := make(chan error)
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		done <- f()
	}()
	return <-done
}

var profileEntry = regexp.MustCompile(`(?m)^(\d+) @[^\n]*\n# labels: (\{[^\n]*\})`)

// labelled returns the number of goroutines with that label.
func labelled(label string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0 // a buffer never fails
	}
	count := 0
	mark := fmt.Appendf(nil, "%q:%q", labelKey, label)
	for _, entry := range profileEntry.FindAllSubmatch(profile.Bytes(), -1) {
		if bytes.Contains(entry[2], mark) {
			n, _ := strconv.Atoi(string(entry[1])) // the pattern matches only digits
			count += n
		}
	}
	return count
}
