package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// lease is the watchdog's timeout on both sides.
const lease = 2 * time.Second

// mode is what the Redis is, and how Redisson uses it. Peer.java knows them.
type mode string

const (
	single           mode = "single"
	cluster          mode = "cluster"           // Redisson uses sharded pub/sub where the server has it: its default
	clusterUnsharded mode = "cluster-unsharded" // Redisson does not use it
)

// arena is one Redis with a Redisson on it, which the checks of many variants of
// the Go side may use one after the other.
type arena struct {
	mode   mode
	server *redisserver.Server
	rdb    *redis.Client // looks on
	java   *javaSide
	locks  atomic.Int64 // how many names there have been
}

// newArena starts both. target is the folder into which Maven has built.
func newArena(ctx context.Context, target string, m mode) (*arena, error) {
	config := redisserver.Config{Port: redisserver.AnyPort}
	if m != single {
		bus, err := redisserver.FreePort()
		if err != nil {
			return nil, err
		}
		config.Args = []string{"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-announce-ip", "127.0.0.1"}
	}
	server, err := redisserver.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	a := &arena{
		mode: m, server: server,
		rdb: redis.NewClient(&redis.Options{Network: "unix", Addr: server.Socket(), ContextTimeoutEnabled: true}),
	}
	start := func(ctx context.Context) (*peer, error) { return startPeer(ctx, target, server.Addr(), m) }
	if err := a.ownSlots(ctx); err != nil {
		return nil, errors.Join(err, a.rdb.Close(), server.Close())
	}
	p, err := start(ctx)
	if err != nil {
		return nil, errors.Join(err, a.rdb.Close(), server.Close())
	}
	a.java = &javaSide{peer: p, start: start}
	return a, nil
}

// ownSlots makes the server a Cluster of one node, if it is to be one.
func (a *arena) ownSlots(ctx context.Context) error {
	if a.mode == single {
		return nil
	}
	if err := a.rdb.ClusterAddSlotsRange(ctx, 0, 16383).Err(); err != nil {
		return err
	}
	return redisserver.Until(ctx, func(ctx context.Context) error {
		info, err := a.rdb.ClusterInfo(ctx).Result()
		if err == nil && !strings.Contains(info, "cluster_state:ok") {
			err = fmt.Errorf("the Cluster does not begin: %s", info)
		}
		return err
	})
}

// newGoSide is the Go side of a variant, with the kind of client that fits.
func (a *arena) newGoSide(v variant) (*goSide, error) {
	if a.mode == single {
		return newGoSide(newClient(a.server.Addr()), v, a.server.Addr())
	}
	return newGoSide(redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{a.server.Addr()}, ContextTimeoutEnabled: true,
	}), v, a.server.Addr())
}

// Close ends the processes.
func (a *arena) Close() error {
	a.java.Kill()
	return errors.Join(a.rdb.Close(), a.server.Close())
}

// newLock is a name that no check has used before: what one leaves behind does
// not disturb the next.
func (a *arena) newLock() string { return fmt.Sprintf("order:%d", a.locks.Add(1)) }

// scripts is how many scripts Redis has run.
func scripts(ctx context.Context, rdb *redis.Client) (int, error) {
	stats, err := rdb.InfoMap(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, command := range []string{"eval", "evalsha"} {
		var calls int
		if line := stats["Commandstats"]["cmdstat_"+command]; line != "" {
			if _, err := fmt.Sscanf(line, "calls=%d", &calls); err != nil {
				return 0, fmt.Errorf("commandstats of %s: %w", command, err)
			}
		}
		total += calls
	}
	return total, nil
}

// channels are those that somebody listens to and whose name contains the lock's.
func channels(ctx context.Context, rdb *redis.Client, lock string) ([]string, error) {
	plain, err := rdb.PubSubChannels(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	sharded, err := rdb.PubSubShardChannels(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	var of []string
	for _, channel := range append(plain, sharded...) {
		if strings.Contains(channel, lock) {
			of = append(of, channel)
		}
	}
	return of, nil
}

// waiter is an owner who waits for a lock in the background.
type waiter struct {
	owner
	held chan error // when its Lock has returned
	at   time.Time  // when that was; read it after held
}

// startWaiter has an owner wait. It returns when a waiter has been refused,
// listens, and has been refused once more: from then on only a message, or the end
// of the lease, makes it try again.
func startWaiter(ctx context.Context, rdb *redis.Client, s side, lock string) (*waiter, error) {
	o, err := s.Owner(lock)
	if err != nil {
		return nil, err
	}
	before, err := scripts(ctx, rdb)
	if err != nil {
		return nil, err
	}
	w := &waiter{owner: o, held: make(chan error, 1)}
	go func() {
		err := o.Lock(ctx)
		w.at = time.Now()
		w.held <- err
	}()
	return w, redisserver.Until(ctx, func(ctx context.Context) error {
		now, err := scripts(ctx, rdb)
		if err != nil {
			return err
		}
		listening, err := channels(ctx, rdb, lock)
		if err != nil {
			return err
		}
		if now < before+2 || len(listening) == 0 {
			return fmt.Errorf("%s does not wait for %s as it should: %d tries, listens to %d channels", s.Name(), lock, now-before, len(listening))
		}
		return nil
	})
}

// has tells whether the waiter has got the lock by now.
func (w *waiter) has() bool { return len(w.held) > 0 }

// wait waits until the waiter has the lock, and returns when that was.
func (w *waiter) wait(ctx context.Context) (time.Time, error) {
	select {
	case err := <-w.held:
		return w.at, err
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("the waiter does not get the lock: %w", ctx.Err())
	}
}

// redissonChannel is the channel of a lock's waiters, as Redisson names it.
func redissonChannel(lock string) string { return stage6.RedissonLayout.Channel(lock) }
