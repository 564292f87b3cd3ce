package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/redisserver"
)

// replicate makes one server a replica of another, waits until it is in sync, and
// promotes it: what is written to the other from then on it does not see.
func replicate(ctx context.Context, master, replica *redisserver.Server) error {
	way, err := proxy.Open(proxy.Config{Server: master.Socket()}) // a replica finds its master only by host and port
	if err != nil {
		return err
	}
	defer way.Close()
	host, port, err := net.SplitHostPort(way.Addr())
	if err != nil {
		return err
	}
	rdb := redisserver.NewClient(replica.Socket())
	defer rdb.Close()
	if err := rdb.ReplicaOf(ctx, host, port).Err(); err != nil {
		return fmt.Errorf("live: REPLICAOF: %w", err)
	}
	if err := redisserver.Until(ctx, func(ctx context.Context) error { return inSync(ctx, rdb) }); err != nil {
		return err
	}
	if err := rdb.ReplicaOf(ctx, "NO", "ONE").Err(); err != nil {
		return fmt.Errorf("live: REPLICAOF NO ONE: %w", err)
	}
	return nil
}

func inSync(ctx context.Context, rdb *redis.Client) error {
	info, err := rdb.Info(ctx, "replication").Result()
	if err == nil && !strings.Contains(info, "master_link_status:up") {
		err = errors.New("live: the replica is not in sync with its master")
	}
	return err
}
