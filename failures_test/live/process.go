package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"sync/atomic"

	"lockkata/failures_test/live/redisserver"
)

// process is a Redis on which scenarios are played: either an own redis-server, with replicas if the
// run needs them, or a Redis that other programs use too.
type process struct {
	shared   string              // address of a shared Redis; "" for an own one
	master   *redisserver.Server // nil for a shared Redis
	replicas []*replica          // of the newest run
}

// start starts a redis-server and waits until it answers.
func start(ctx context.Context) (*process, error) {
	master, err := launch(ctx)
	return &process{master: master}, err
}

// launch starts a redis-server that replicates without files, so that a busy disk does not delay it. It looks
// 250 times a second whether the time of a WAIT is over; by default 10 times.
func launch(ctx context.Context) (*redisserver.Server, error) {
	return redisserver.Start(ctx, redisserver.Config{
		Args: []string{"--hz", "250", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "swapdb"},
	})
}

// isOurs reports whether the Redis is an own one, which may lose its data and fail.
func (p *process) isOurs() bool { return p.master != nil }

// addr returns the address of Redis: host and port, or the path of a Unix socket. A failover
// changes it.
func (p *process) addr() string {
	if p.isOurs() {
		return p.master.Socket()
	}
	return p.shared
}

// restart kills the process and starts it again at the same address.
func (p *process) restart() error {
	p.master.Kill()
	return p.master.Launch(context.Background())
}

func (p *process) close() error { return errors.Join(p.endReplicas(), p.master.Close()) }

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
