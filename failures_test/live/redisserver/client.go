package redisserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Network is the network of an address: that of a path is "unix", of a host and
// port "tcp".
func Network(addr string) string {
	if filepath.IsAbs(addr) {
		return "unix"
	}
	return "tcp"
}

// NewClient is a connection pool to the Redis at a Unix socket or a host and port,
// with go-redis's own options but for two: the deadline of a context counts, and no
// maintenance is asked for, which no server here knows. The others are for change.
func NewClient(addr string, change ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{
		Network: Network(addr), Addr: addr, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, f := range change {
		f(options)
	}
	return redis.NewClient(options)
}

// Ping asks once whether a Redis answers there, at a Unix socket or a host and
// port. One that wants a password first is there as well.
func Ping(ctx context.Context, addr string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, Network(addr), addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "+PONG\r\n" && !strings.HasPrefix(answer, "-NOAUTH") {
		err = fmt.Errorf("it answers %q to PING", strings.TrimSpace(answer))
	}
	return err
}

// Until asks again and again, for at most 10 s, until there is no error. It
// returns the last one. No redis-server takes as long to answer, or to be in sync.
func Until(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(2 * time.Millisecond):
		}
	}
}
