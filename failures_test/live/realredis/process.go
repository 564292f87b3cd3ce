package realredis

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"lockkata/failures_test/live/redisserver"
)

// Process is a Redis on which scenarios are played: either an own redis-server, with replicas if the
// run needs them, or a Redis that other programs use too.
type Process struct {
	Quiet time.Duration // the longest pause of a client between two commands if it is not waiting; default 1 ms

	shared   string              // address of a shared Redis; "" for an own one
	master   *redisserver.Server // nil for a shared Redis
	replicas []*replica          // of the newest run
}

// At returns the process of a shared Redis, by its host and port or Unix socket.
func At(addr string) *Process { return &Process{shared: addr} }

// Start starts a redis-server and waits until it answers. It returns [redisserver.ErrMissing] if
// redis-server is not installed.
func Start(ctx context.Context) (*Process, error) {
	master, err := launch(ctx)
	return &Process{master: master}, err
}

// launch starts a redis-server that replicates without files, so that a busy disk does not delay it. It looks
// 250 times a second whether the time of a WAIT is over; by default 10 times.
func launch(ctx context.Context) (*redisserver.Server, error) {
	return redisserver.Start(ctx, redisserver.Config{
		Args: []string{"--hz", "250", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "swapdb"},
	})
}

// Version returns the name and the version of the server, such as "redis 7.0.15".
func (p *Process) Version(ctx context.Context) (string, error) {
	rdb := NewClient(p.addr())
	defer rdb.Close()
	info, err := rdb.Info(ctx, "server").Result()
	name, version := "redis", ""
	for line := range strings.Lines(info) { // a Valkey also names the Redis that it stands for
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "redis_version":
			version = cmp.Or(version, value)
		case "valkey_version":
			version = value
		case "server_name":
			name = value
		}
	}
	return name + " " + version, err
}

// isOurs reports whether the Redis is an own one, which may lose its data and fail.
func (p *Process) isOurs() bool { return p.master != nil }

// addr returns the address of Redis: host and port, or the path of a Unix socket. A failover
// changes it.
func (p *Process) addr() string {
	if p.isOurs() {
		return p.master.Socket()
	}
	return p.shared
}

// restart kills the process and starts it again at the same address.
func (p *Process) restart() error {
	p.master.Kill()
	return p.master.Launch(context.Background())
}

// Close ends an own redis-server and its replicas. It is not for a shared Redis.
func (p *Process) Close() error { return errors.Join(p.endReplicas(), p.master.Close()) }
