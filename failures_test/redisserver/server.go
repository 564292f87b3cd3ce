// Package redisserver starts redis-server processes: for the live runs, for tests
// and for measurements.
package redisserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"lockkata/failures_test/live/fleet"
)

// ErrMissing is the error when no redis-server is installed.
var ErrMissing = errors.New("there is no redis-server: install one (apt install redis-server, brew install redis)")

// Config says what is started. Every server answers on a Unix socket, whose name
// nobody else can take as one can take a free port.
type Config struct {
	// Socket is the path of the Unix socket; empty: in a new folder of its own.
	Socket string
	// Port is a TCP port of 127.0.0.1 on which it answers too; 0: none; AnyPort:
	// one that is free.
	Port int
	// File is the path of a configuration file, which Args overrule; empty: none. A
	// Sentinel needs one of its own, and writes to it.
	File string
	// Args are further arguments. They come last, and so decide. Without any,
	// nothing is kept on disk.
	Args []string
}

// AnyPort asks for a port that nobody else uses.
const AnyPort = -1

// Server is one redis-server process. It ends with the program that started it,
// on Linux also when that is killed.
type Server struct {
	config Config
	path   string
	own    string // a folder to be removed with the server
	logs   bytes.Buffer

	process *fleet.Process
	gone    chan struct{} // closed when the process has ended, and is not counted any more
}

// running is how many processes there are.
var running atomic.Int64

// Running is how many servers are running that this program has started.
func Running() int { return int(running.Load()) }

// Start starts a redis-server and waits until it answers. It returns [ErrMissing]
// when none is installed.
func Start(ctx context.Context, config Config) (*Server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrMissing
	}
	s := &Server{config: config, path: path}
	if config.Socket == "" {
		if s.own, err = os.MkdirTemp("", "lockkata-redis-"); err != nil {
			return nil, err
		}
		s.config.Socket = filepath.Join(s.own, "redis")
	}
	if err := s.first(ctx); err != nil {
		return nil, errors.Join(err, s.removeOwn())
	}
	return s, nil
}

// first launches the server. Somebody may take a free port between finding and
// using it, so it tries some.
func (s *Server) first(ctx context.Context) error {
	if s.config.Port != AnyPort {
		return s.Launch(ctx)
	}
	var err error
	for range 5 {
		if s.config.Port, err = FreePort(); err != nil {
			return err
		}
		if err = s.Launch(ctx); err == nil {
			return nil
		}
	}
	return err
}

// Launch starts the server again that was killed: at the same addresses, with the
// same arguments and files.
func (s *Server) Launch(ctx context.Context) error {
	s.logs.Reset()
	args := []string{
		"--port", strconv.Itoa(s.config.Port), "--bind", "127.0.0.1",
		"--unixsocket", s.config.Socket, "--dir", s.Dir(),
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
	}
	args = append(args, s.config.Args...)
	if s.config.File != "" {
		args = append([]string{s.config.File}, args...)
	}
	cmd := exec.Command(s.path, args...)
	cmd.Stdout, cmd.Stderr = &s.logs, &s.logs
	var err error
	if s.process, err = fleet.Start(cmd); err != nil {
		return fmt.Errorf("redis-server does not start: %w", err)
	}
	running.Add(1)
	process, gone := s.process, make(chan struct{})
	s.gone = gone
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-process.Ended()
		running.Add(-1)
		cancel() // it will not answer any more
		close(gone)
	}()
	if err := Until(ctx, func(ctx context.Context) error { return Ping(ctx, s.config.Socket) }); err != nil {
		s.Kill()
		return fmt.Errorf("redis-server does not answer: %w: %s", err, s.Said())
	}
	return nil
}

// Socket is the Unix socket on which the server answers.
func (s *Server) Socket() string { return s.config.Socket }

// Addr is the host and port on which the server answers, if it was given a port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.config.Port)) }

// Dir is the folder in which the server keeps what it keeps.
func (s *Server) Dir() string { return filepath.Dir(s.config.Socket) }

// Said is what the server has logged. It must have ended.
func (s *Server) Said() string { return strings.TrimSpace(s.logs.String()) }

// Stop makes the server stand still until Continue.
func (s *Server) Stop() error { return s.process.Stop() }

// Continue lets a server go on that was stopped.
func (s *Server) Continue() error { return s.process.Continue() }

// Kill ends the process at once. Its files stay, for Launch.
func (s *Server) Kill() {
	s.process.Kill()
	<-s.gone
	_ = os.Remove(s.config.Socket) // it is there only if redis-server had begun to answer
}

// Close ends the process and removes what Start made.
func (s *Server) Close() error {
	s.Kill()
	return s.removeOwn()
}

func (s *Server) removeOwn() error {
	if s.own == "" {
		return nil
	}
	return os.RemoveAll(s.own)
}

// FreePort is a TCP port that is free just now.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
