package foreign

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"lockkata/failures_test/world"
)

// host is what a process of the world has of a worker: its address of Redis, and its part of the worker. It is a
// [world.Driver].
type host struct {
	process  *world.Process
	bench    *Bench
	listener net.Listener
	worker   *worker
	ctx      context.Context // ends with the host
	end      context.CancelFunc

	mu      sync.Mutex
	conns   []net.Conn
	calling int // calls under way
	dead    bool
}

// open listens at a port of this machine.
func (h *host) open() (err error) {
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
		go h.accept()
	}
	return err
}

func (h *host) address() string { return h.listener.Addr().String() }

// accept joins each connection of the worker to one of the world.
func (h *host) accept() {
	for {
		from, err := h.listener.Accept()
		if err != nil {
			return
		}
		go h.join(from)
	}
}

func (h *host) join(from net.Conn) {
	defer from.Close()
	to, err := h.process.Dial(h.ctx, 0)
	if err != nil {
		return
	}
	h.mu.Lock()
	h.conns = append(h.conns, from, to)
	h.mu.Unlock()
	if h.ctx.Err() != nil { // closed meanwhile
		_ = to.Close()
		return
	}
	go func() {
		_, _ = io.Copy(to, from) // the connection ends
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to) // as above
}

// cut ends all connections.
func (h *host) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		_ = c.Close() // it may have ended
	}
	h.conns = nil
}

// Do sends a command of the application, on a connection of its own.
func (h *host) Do(ctx context.Context, args ...any) error {
	to, err := h.process.Dial(ctx, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = fmt.Sprint(arg)
	}
	if err := proto.Write(to, words); err != nil {
		return err
	}
	reply, err := proto.Read(bufio.NewReader(to))
	if err == nil && strings.HasPrefix(reply, "-") {
		err = unclear(strings.TrimSpace(reply[1:]))
	}
	return err
}

// SetReadTimeout does nothing: the worker's client has its own.
func (h *host) SetReadTimeout(time.Duration) {}

// WasCrowded reports false: the worker's pool is its own.
func (h *host) WasCrowded() bool { return false }

// IsUnclear reports false: see unclear.
func (h *host) IsUnclear(error) bool { return false }

// unclear is an error after which a command may or may not have taken effect.
type unclear string

func (u unclear) Error() string { return string(u) }

// RedisError marks it as such.
func (u unclear) RedisError() {}

// Attribute implements [world.Attributing]. A command of a kind that in normal use is sent in the background only is
// not of a call.
func (h *host) Attribute(args []string) (client string, is bool) {
	h.mu.Lock()
	calling := h.calling
	h.mu.Unlock()
	return "", h.bench.isOfCall(kindOf(args), calling > 0)
}

// kindOf returns what tells commands apart: the name, or the hash of the script.
func kindOf(args []string) string {
	name := strings.ToUpper(args[0])
	switch {
	case name == "EVAL" && len(args) > 1:
		sum := sha1.Sum([]byte(args[1]))
		return hex.EncodeToString(sum[:])
	case name == "EVALSHA" && len(args) > 1:
		return strings.ToLower(args[1])
	}
	return name
}

// Freeze implements [world.Halting].
func (h *host) Freeze() { h.signal((*worker).stop) }

// Thaw implements [world.Halting].
func (h *host) Thaw() { h.signal((*worker).goOn) }

// signal stops or continues the worker, if that is asked for.
func (h *host) signal(send func(*worker) error) {
	if h.bench.Stop && h.worker != nil && !h.dead {
		_ = send(h.worker) // it may have ended
	}
}

func (w *worker) stop() error { return w.process.Stop() }
func (w *worker) goOn() error { return w.process.Continue() }

// Crash implements [world.Halting]: a worker of one process is killed. Of a shared one, the connections of the
// process end.
func (h *host) Crash() {
	h.dead = true
	if h.bench.shared != nil {
		h.cut()
	} else if h.worker != nil {
		h.worker.process.Kill()
	}
}

// Close ends the connections, and a worker that is not shared.
func (h *host) Close() error {
	h.end()
	var err error
	if h.listener != nil {
		err = h.listener.Close()
	}
	h.cut()
	if h.bench.shared == nil && h.worker != nil {
		h.worker.process.Kill()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
