package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/redisserver"
)

// replicate makes one server a replica of another, waits until it is in sync, and
// promotes it: what is written to the other from then on it does not see.
func replicate(ctx context.Context, master, replica *redisserver.Server) error {
	way, err := open(ctx, master.Socket())
	if err != nil {
		return err
	}
	defer way.close()
	rdb := redis.NewClient(&redis.Options{
		Network: "unix", Addr: replica.Socket(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	defer rdb.Close()
	if err := rdb.ReplicaOf(ctx, "127.0.0.1", strconv.Itoa(way.port())).Err(); err != nil {
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

// way is a port that leads to a Unix socket: a replica finds its master only by
// host and port.
type way struct {
	listener net.Listener
	socket   string
	ctx      context.Context // ends with the way
	cancel   context.CancelFunc
	carriers sync.WaitGroup
}

func open(ctx context.Context, socket string) (*way, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &way{listener: listener, socket: socket}
	w.ctx, w.cancel = context.WithCancel(ctx)
	w.carriers.Go(w.serve)
	return w, nil
}

func (w *way) port() int { return w.listener.Addr().(*net.TCPAddr).Port }

func (w *way) serve() {
	for {
		from, err := w.listener.Accept()
		if err != nil {
			return // it is closed
		}
		to, err := net.Dial("unix", w.socket)
		if err != nil {
			_ = from.Close() // the replica tries again
			continue
		}
		w.carriers.Go(func() { w.carry(from, to) })
		w.carriers.Go(func() { w.carry(to, from) })
	}
}

// carry copies until either side hangs up, or the way ends.
func (w *way) carry(from, to net.Conn) {
	stop := context.AfterFunc(w.ctx, func() { _ = from.Close() }) // nothing is to be saved
	defer stop()
	_, _ = io.Copy(to, from) // a connection that ends is what it waits for
	_ = to.Close()
}

// close breaks what is open.
func (w *way) close() {
	_ = w.listener.Close() // nothing is to be saved
	w.cancel()
	w.carriers.Wait()
}
