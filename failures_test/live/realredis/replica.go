package realredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/trace"
)

// replica is a redis-server that gets the writes of the master through a proxy.
type replica struct {
	name   string // in the scenario
	server *redisserver.Server
	link   *proxy.Proxy
	lags   bool // the link is slow or broken
}

// replicate ends the replicas of the last run, and starts others: R2, R3 …, in sync with the master.
func (p *Process) replicate(ctx context.Context, count int) error {
	err := p.endReplicas()
	for n := 2; n < count+2 && err == nil; n++ {
		r := &replica{name: "R" + strconv.Itoa(n)}
		if r.server, err = launch(ctx); err == nil {
			p.replicas = append(p.replicas, r)
			err = p.lead(ctx, r)
		}
	}
	return err
}

func (p *Process) endReplicas() (err error) {
	for _, r := range p.replicas {
		err = errors.Join(err, r.server.Close())
		if r.link != nil {
			r.link.Close()
		}
	}
	p.replicas = nil
	return err
}

// lead makes the replica follow the master over a new link, and waits until it is in sync.
func (p *Process) lead(ctx context.Context, r *replica) (err error) {
	if r.link, err = proxy.Open(p.master.Socket()); err != nil {
		return err
	}
	r.lags = false
	host, port, err := net.SplitHostPort(r.link.Addr()) // REPLICAOF takes no Unix socket
	if err != nil {
		return err
	}
	if err := r.follow(ctx, host, port); err != nil {
		return err
	}
	r.link.Cut() // a master sends writes at once to a replica that comes back, but to a new one after up to a second
	return p.settle(ctx)
}

// follow makes the replica follow a server, and waits until it has its data.
func (r *replica) follow(ctx context.Context, host, port string) error {
	rdb := NewClient(r.server.Socket())
	defer rdb.Close()
	if err := rdb.ReplicaOf(ctx, host, port).Err(); err != nil {
		return err
	}
	return redisserver.Until(ctx, func(ctx context.Context) error {
		info, err := rdb.Info(ctx, "replication").Result()
		if err == nil && strings.Contains(info, "master_link_status:down") {
			err = errors.New("realredis: the replica has no data of its master")
		}
		return err
	})
}

// cut breaks the link. What is on its way is lost. The replica would go on to look for its master at a port that
// another program can get, so it stops following one.
func (r *replica) cut(ctx context.Context) error {
	if r.link == nil {
		return nil
	}
	err := r.follow(ctx, "NO", "ONE")
	r.link.Close()
	r.link, r.lags = nil, true
	return err
}

// settle waits until the replicas that do not lag have all that the master has written.
func (p *Process) settle(ctx context.Context) error {
	count := len(slices.DeleteFunc(slices.Clone(p.replicas), func(r *replica) bool { return r.lags }))
	if count == 0 {
		return nil
	}
	rdb := NewClient(p.addr())
	defer rdb.Close()
	return redisserver.Until(ctx, func(ctx context.Context) error {
		pipe := rdb.Pipeline() // on one connection: WAIT is about the writes of its own
		pipe.Publish(ctx, "lockkata", "")
		wait := pipe.Do(ctx, "WAIT", count, 10)
		_, _ = pipe.Exec(ctx) // WAIT has the error
		have, err := wait.Int()
		if err == nil && have < count {
			err = fmt.Errorf("realredis: %d of %d replicas are in sync", have, count)
		}
		return err
	})
}

// disturb applies a fault to the replica of that name. What was written before has arrived at replicas that do
// not lag, as in the controlled world.
func (p *Process) disturb(fault trace.ServerFault, d time.Duration, name string) error {
	ctx := context.Background()
	r := p.replicas[slices.IndexFunc(p.replicas, func(r *replica) bool { return r.name == name })]
	if err := p.settle(ctx); err != nil {
		return err
	}
	switch fault {
	case trace.ReplicaDelayed:
		r.lags = true
		r.link.Slow(d)
	case trace.ReplicaCut:
		return r.cut(ctx)
	case trace.ReplicaHealed:
		return p.lead(ctx, r)
	case trace.Promoted:
		return p.promote(ctx, r)
	}
	return nil
}

// promote replaces the master by a replica, with what that has and at another address. The other replicas follow
// it.
func (p *Process) promote(ctx context.Context, next *replica) (err error) {
	for _, r := range p.replicas {
		err = errors.Join(err, r.cut(ctx))
	}
	err = errors.Join(err, p.master.Close())
	p.master = next.server
	p.replicas = slices.DeleteFunc(p.replicas, func(r *replica) bool { return r == next })
	for _, r := range p.replicas {
		err = errors.Join(err, p.lead(ctx, r))
	}
	return err
}
