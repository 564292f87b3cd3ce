package redisserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// readyWithin is how long a redis-server may take until it answers, and a replica
// until it is in sync.
const readyWithin = 10 * time.Second

// Until asks again and again, for at most 10 s, until there is no error. It
// returns the last one.
func Until(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// Network is the network of an address: that of a path is "unix", of a host and
// port "tcp".
func Network(addr string) string {
	if filepath.IsAbs(addr) {
		return "unix"
	}
	return "tcp"
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
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "+PONG\r\n" && !strings.HasPrefix(answer, "-NOAUTH") {
		err = fmt.Errorf("it answers %q to PING", strings.TrimSpace(answer))
	}
	return err
}
