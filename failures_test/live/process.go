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

// errNoReplica is the error of a failover for which no replica was kept.
var errNoReplica = errors.New("live: there is no replica that could take over")

// process is a Redis on which scenarios are played: one redis-server of our own, and a replica of
// it when the run needs one; or a Redis that other programs use too.
type process struct {
	shared    string              // the address of the latter
	master    *redisserver.Server // nil: the Redis is shared
	replica   *redisserver.Server // it was in sync, and is detached
	failsOver bool                // the next runs need a replica
}

// start starts a redis-server and waits until it answers.
func start(ctx context.Context) (*process, error) {
	master, err := launch(ctx)
	return &process{master: master}, err
}

// launch starts a redis-server. A replica need not wait for others that might want
// the same data.
func launch(ctx context.Context) (*redisserver.Server, error) {
	return redisserver.Start(ctx, redisserver.Config{
		Args: []string{"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db"},
	})
}

// isOurs reports whether the data may be lost and Redis may be made to fail as a whole.
func (p *process) isOurs() bool { return p.master != nil }

// addr is where Redis answers: a host and a port, or the path of a Unix socket. It is another one
// after a failover.
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

// begin makes a replica for a run that fails over: in sync with the master, and
// then cut off from it. It must be promoted before the lock writes anything. Stopping
// it is not enough: what its master sends would wait in the kernel, and not be lost.
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

// failover makes the replica answer, at another address, and ends the master.
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

// promote makes the replica one of the master, waits until it is in sync, and
// promotes it: what is written to the master from then on it does not see.
func (p *process) promote(ctx context.Context) error {
	way, err := proxy.Open(p.master.Socket()) // a replica finds its master only by host and port
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
