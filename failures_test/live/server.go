package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// server is one redis-server. It answers on a Unix socket, whose name nobody else
// can take as one can take a free port.
type server struct {
	path   string
	dir    string
	socket string
	cmd    *exec.Cmd
	logs   bytes.Buffer
}

// launch starts another redis-server.
func (p *process) launch(ctx context.Context) (*server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoServer
	}
	p.started++
	s := &server{path: path, dir: p.dir, socket: filepath.Join(p.dir, strconv.Itoa(p.started))}
	return s, s.launch(ctx)
}

// launch starts redis-server and waits until it answers. It keeps nothing on disk,
// and a replica need not wait for others that might want the same data.
func (s *server) launch(ctx context.Context) error {
	s.logs.Reset()
	s.cmd = exec.Command(s.path,
		"--port", "0", "--unixsocket", s.socket, "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db")
	s.cmd.Stdout, s.cmd.Stderr = &s.logs, &s.logs
	endWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("redis-server does not start: %w", err)
	}
	if err := until(ctx, func(ctx context.Context) error { return ping(ctx, s.socket) }); err != nil {
		s.kill()
		return fmt.Errorf("redis-server does not answer: %w: %s", err, s.said())
	}
	return nil
}

// said is what it has logged. It must have ended.
func (s *server) said() string { return strings.TrimSpace(s.logs.String()) }

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended by itself
	_ = s.cmd.Wait()         // its status is ours
	_ = os.Remove(s.socket)  // it is there only if redis-server had begun to answer
}
