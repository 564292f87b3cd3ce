package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"lockkata/failures_test/world"
)

// ErrNoServer is the error when no redis-server is installed.
var ErrNoServer = errors.New("there is no redis-server: install one (apt install redis-server, brew install redis), or name a running Redis with --redis ADDR")

// errNoReplica is the error of a failover for which no replica was kept.
var errNoReplica = errors.New("live: there is no replica that could take over")

// process is a Redis of our own: one redis-server, and a replica of it when the
// run needs one.
type process struct {
	dir     string // for the sockets; nothing else is written there
	master  *server
	replica *server // it was in sync, and is detached
	started int     // how many servers there have been
	// failsOver says that runs that begin now need a replica.
	failsOver bool
}

var _ world.OwnRedis = (*process)(nil)

// start starts a redis-server and waits until it answers.
func start(ctx context.Context) (*process, error) {
	dir, err := os.MkdirTemp("", "lockkata-redis-")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	if p.master, err = p.launch(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// Addr is where the process answers.
func (p *process) Addr() string { return p.master.socket }

// Restart kills the process and starts it again at the same address.
func (p *process) Restart() error {
	p.master.kill()
	return p.master.launch(context.Background())
}

// Begin makes a replica for a run that fails over: in sync with the master, and
// then cut off from it. It must be promoted before the lock writes anything, not
// stopped: what a master sends to a replica that stands still waits for it in the
// kernel, and is not lost.
func (p *process) Begin() error {
	p.endReplica()
	if !p.failsOver {
		return nil
	}
	ctx := context.Background()
	replica, err := p.launch(ctx)
	if err != nil {
		return err
	}
	if err := replicate(ctx, p.master, replica); err != nil {
		replica.kill()
		return fmt.Errorf("%w: %s", err, replica.said())
	}
	p.replica = replica
	return nil
}

// Failover makes the replica answer, at another address, and kills the master.
func (p *process) Failover() error {
	if p.replica == nil {
		return errNoReplica
	}
	old := p.master
	p.master, p.replica = p.replica, nil
	old.kill()
	return nil
}

func (p *process) endReplica() {
	if p.replica != nil {
		p.replica.kill()
		p.replica = nil
	}
}

func (p *process) close() error {
	p.endReplica()
	p.master.kill()
	return os.RemoveAll(p.dir)
}

// readyWithin is how long a redis-server may take until it answers, and a replica
// until it is in sync.
const readyWithin = 10 * time.Second

// until asks again and again, for at most readyWithin, until there is no error.
func until(ctx context.Context, ask func(context.Context) error) error {
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

// ping asks once whether a Redis answers there.
func ping(ctx context.Context, addr string) error {
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, addr)
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
	if err == nil && answer != "+PONG\r\n" {
		err = fmt.Errorf("it answers %q to PING", strings.TrimSpace(answer))
	}
	return err
}
