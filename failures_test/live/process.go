package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"lockkata/failures_test/redisserver"
	"lockkata/failures_test/world"
)

// errNoReplica is the error of a failover for which no replica was kept.
var errNoReplica = errors.New("live: there is no replica that could take over")

// process is a Redis of our own: one redis-server, and a replica of it when the
// run needs one.
type process struct {
	dir     string // for the sockets; nothing else is written there
	master  *redisserver.Server
	replica *redisserver.Server // it was in sync, and is detached
	started int                 // how many servers there have been
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
func (p *process) Addr() string { return p.master.Socket() }

// Restart kills the process and starts it again at the same address.
func (p *process) Restart() error {
	p.master.Kill()
	return p.master.Launch(context.Background())
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
		replica.Kill()
		return fmt.Errorf("%w: %s", err, replica.Said())
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
	old.Kill()
	return nil
}

func (p *process) endReplica() {
	if p.replica != nil {
		p.replica.Kill()
		p.replica = nil
	}
}

func (p *process) close() error {
	p.endReplica()
	p.master.Kill()
	return os.RemoveAll(p.dir)
}

// launch starts another redis-server. A replica need not wait for others that
// might want the same data.
func (p *process) launch(ctx context.Context) (*redisserver.Server, error) {
	p.started++
	return redisserver.Start(ctx, redisserver.Config{
		Socket: filepath.Join(p.dir, strconv.Itoa(p.started)),
		Args:   []string{"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db"},
	})
}
