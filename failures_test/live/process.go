package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/redisserver"
)

// errNoReplica is the error of a failover without a replica.
var errNoReplica = errors.New("live: there is no replica that could take over")

// process is a Redis on which scenarios are played: either an own redis-server, with a replica if
// the run needs one, or a Redis that other programs use too.
type process struct {
	shared    string              // address of a shared Redis; "" for an own one
	master    *redisserver.Server // nil for a shared Redis
	replica   *redisserver.Server // was in sync, now detached
	failsOver bool                // the next runs need a replica
}

// start starts a redis-server and waits until it answers.
func start(ctx context.Context) (*process, error) {
	master, err := launch(ctx)
	return &process{master: master}, err
}

// launch starts a redis-server that sends its data to a replica without waiting for more replicas.
func launch(ctx context.Context) (*redisserver.Server, error) {
	return redisserver.Start(ctx, redisserver.Config{
		Args: []string{"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db"},
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

// begin prepares a replica for a run that fails over: in sync with the master, then promoted before
// the lock writes anything. It is not enough to stop the replica: what the master sends would wait
// in the kernel instead of being lost.
func (p *process) begin() error {
	err := p.endReplica()
	if err != nil || !p.failsOver {
		return err
	}
	ctx := context.Background()
	if p.replica, err = launch(ctx); err != nil {
		return err
	}
	return p.promote(ctx)
}

// failover replaces the master by the replica, at another address.
func (p *process) failover() error {
	if p.replica == nil {
		return errNoReplica
	}
	old := p.master
	p.master, p.replica = p.replica, nil
	return old.Close()
}

func (p *process) endReplica() error {
	old := p.replica
	p.replica = nil
	if old == nil {
		return nil
	}
	return old.Close()
}

func (p *process) close() error { return errors.Join(p.endReplica(), p.master.Close()) }

// promote makes the replica follow the master, waits until it is in sync, and promotes it. It does
// not see later writes to the master.
func (p *process) promote(ctx context.Context) error {
	way, err := proxy.Open(p.master.Socket()) // REPLICAOF needs a host and a port
	if err != nil {
		return err
	}
	defer way.Close()
	host, port, err := net.SplitHostPort(way.Addr())
	if err != nil {
		return err
	}
	rdb := redisserver.NewClient(p.replica.Socket())
	defer rdb.Close()
	if err := rdb.ReplicaOf(ctx, host, port).Err(); err != nil {
		return fmt.Errorf("live: REPLICAOF: %w", err)
	}
	err = redisserver.Until(ctx, func(ctx context.Context) error {
		info, err := rdb.Info(ctx, "replication").Result()
		if err == nil && !strings.Contains(info, "master_link_status:up") {
			err = errors.New("live: the replica is not in sync with its master")
		}
		return err
	})
	return errors.Join(err, rdb.ReplicaOf(ctx, "NO", "ONE").Err())
}
