package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lockkata/failures_test/world"
)

// ErrNoServer is the error when no redis-server is installed.
var ErrNoServer = errors.New("there is no redis-server: install one (apt install redis-server, brew install redis), or name a running Redis with --redis ADDR")

// process is one redis-server of our own. It answers on a Unix socket, whose name
// nobody else can take as one can take a free port.
type process struct {
	path   string
	dir    string // for the socket; nothing else is written there
	socket string
	cmd    *exec.Cmd
	logs   bytes.Buffer
}

var _ world.OwnRedis = (*process)(nil)

// start starts a redis-server and waits until it answers.
func start(ctx context.Context) (*process, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoServer
	}
	dir, err := os.MkdirTemp("", "lockkata-redis-")
	if err != nil {
		return nil, err
	}
	p := &process{path: path, dir: dir, socket: filepath.Join(dir, "1")}
	if err := p.launch(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// Addr is where the process answers.
func (p *process) Addr() string { return p.socket }

// Restart kills the process and starts it again at the same address.
func (p *process) Restart() error {
	p.kill()
	return p.launch(context.Background())
}

// Failover kills the process and starts another at another address. A replica
// that was promoted before it had seen a single write is an empty Redis.
func (p *process) Failover() error {
	p.kill()
	p.socket += "'"
	return p.launch(context.Background())
}

// launch starts redis-server and waits until it answers. It keeps nothing on disk.
func (p *process) launch(ctx context.Context) error {
	p.logs.Reset()
	p.cmd = exec.Command(p.path,
		"--port", "0", "--unixsocket", p.socket, "--dir", p.dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning")
	p.cmd.Stdout, p.cmd.Stderr = &p.logs, &p.logs
	endWithParent(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("redis-server does not start: %w", err)
	}
	if err := ready(ctx, p.socket); err != nil {
		p.kill()
		return fmt.Errorf("redis-server does not answer: %w: %s", err, strings.TrimSpace(p.logs.String()))
	}
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()         // its status is ours
	_ = os.Remove(p.socket)  // it is there only if redis-server had begun to answer
}

func (p *process) close() error {
	p.kill()
	return os.RemoveAll(p.dir)
}

// readyWithin is how long a redis-server may take until it answers.
const readyWithin = 10 * time.Second

// ready asks until the server answers.
func ready(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ping(ctx, addr)
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
