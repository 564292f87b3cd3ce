package live

import (
	"context"
	"errors"

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
