// Package redisserver starts redis-server processes for live runs, tests and measurements. [Start]
// starts a [Server]; [ForTest] starts one for a test.
package redisserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"lockkata/failures_test/live/fleet"
)

// ErrMissing is returned if redis-server is not installed.
var ErrMissing = errors.New("there is no redis-server: install one (apt install redis-server, brew install redis)")

// Config is the configuration of a server. Every server listens on a Unix socket in a new folder,
// whose name no other process can take, unlike a free port.
type Config struct {
	// Port is an additional TCP port on 127.0.0.1; 0: none; AnyPort: a free one.
	Port int
	// File is the path of a configuration file; empty: none. Args have priority. A Sentinel writes
	// to the file.
	File string
	// Args are further arguments, with the highest priority. By default nothing is stored on disk.
	Args []string
}

// AnyPort asks for a free port.
const AnyPort = -1

// Server is a redis-server process, which can be stopped and continued. It ends with the program
// that started it; on Linux even if that is killed.
type Server struct {
	*fleet.Process
	config    Config
	path, dir string
	logs      bytes.Buffer
}

// Binary is the environment variable that names the program of the server, such as a Redis of another version or
// a Valkey. Without it the program is the redis-server in PATH.
const Binary = "LOCKKATA_REDIS_SERVER"

// Path returns the program of the server, or [ErrMissing] if [Binary] is not set and redis-server is not installed.
func Path() (string, error) {
	named := os.Getenv(Binary)
	path, err := exec.LookPath(cmp.Or(named, "redis-server"))
	switch {
	case err != nil && named != "":
		return "", fmt.Errorf("%s names no program that can be run: %w", Binary, err)
	case err != nil:
		return "", ErrMissing
	}
	return path, nil
}

// Start starts a server and waits until it answers. Its error may be that of [Path].
func Start(ctx context.Context, config Config) (*Server, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockkata-redis-")
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, path: path, dir: dir}
	err = s.Launch(ctx)
	for range 4 { // another process may take the port before the server does
		if err == nil || config.Port != AnyPort {
			break
		}
		s.config.Port = AnyPort
		err = s.Launch(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// Launch starts a killed server again, with the same addresses, arguments and files.
func (s *Server) Launch(ctx context.Context) (err error) {
	if s.config.Port == AnyPort {
		if s.config.Port, err = FreePort(); err != nil {
			return err
		}
	}
	args := []string{
		"--port", strconv.Itoa(s.config.Port), "--bind", "127.0.0.1", "--unixsocket", s.Socket(), "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
	}
	args = append(args, s.config.Args...)
	if s.config.File != "" {
		args = append([]string{s.config.File}, args...)
	}
	s.logs.Reset()
	cmd := exec.Command(s.path, args...)
	cmd.Stdout, cmd.Stderr = &s.logs, &s.logs
	if s.Process, err = fleet.Start(cmd); err != nil {
		return fmt.Errorf("redis-server does not start: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func(p *fleet.Process) {
		<-p.Ended()
		cancel() // it will not answer
	}(s.Process)
	if err := Until(ctx, func(ctx context.Context) error { return Ping(ctx, s.Socket()) }); err != nil {
		s.Kill()
		return fmt.Errorf("redis-server does not answer: %w: %s", err, s.Said())
	}
	return nil
}

// Socket returns the path of the server's Unix socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "redis") }

// Addr returns the server's host and port, if the config has a port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.config.Port)) }

// Said returns the server's log. Call it after the server's end.
func (s *Server) Said() string { return strings.TrimSpace(s.logs.String()) }

// Kill kills the process. Its files stay, for Launch.
func (s *Server) Kill() {
	s.Process.Kill()
	_ = os.Remove(s.Socket()) // it exists only if redis-server had begun to answer
}

// Close ends the process and removes its files.
func (s *Server) Close() error {
	s.Kill()
	return os.RemoveAll(s.dir)
}

// FreePort returns a free TCP port below 55,536, so that the port of the Cluster bus, which is
// 10,000 higher, exists too.
func FreePort() (int, error) {
	for {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := listener.Addr().(*net.TCPAddr).Port
		if err := listener.Close(); err != nil || port < 55_536 {
			return port, err
		}
	}
}
