package foreign

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"lockkata/failures_test/world"
)

// host is what a process of the world has of a worker: an address of Redis, and the worker or its part of a shared
// one. It is a [world.Driver].
type host struct {
	process  *world.Process
	bench    *Bench
	listener net.Listener
	worker   *worker
	ctx      context.Context // ends with the host
	end      context.CancelFunc
	calling  atomic.Int32 // calls under way
}

// open listens at a port of this machine.
func (h *host) open() (err error) {
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	context.AfterFunc(h.ctx, func() { _ = h.listener.Close() }) // it has no more use
	go func() {
		for {
			from, err := h.listener.Accept()
			if err != nil {
				return
			}
			go h.join(from)
		}
	}()
	return nil
}

// join copies between a connection of the worker and one of the world, until one of them or the host ends.
func (h *host) join(from net.Conn) {
	defer from.Close()
	to, err := h.process.Dial(h.ctx, 0)
	if err != nil {
		return
	}
	stop := context.AfterFunc(h.ctx, func() { _ = to.Close() }) // it may have ended
	defer stop()
	go func() {
		_, _ = io.Copy(to, from) // the connection ends
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// Do sends a command of the application, on a connection of its own.
func (h *host) Do(ctx context.Context, args ...any) error {
	to, err := h.process.Dial(ctx, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := proto.Write(to, strings.Fields(fmt.Sprintln(args...))); err != nil {
		return err
	}
	reply, err := bufio.NewReader(to).ReadString('\n')
	if strings.HasPrefix(reply, "-") {
		return unclear(strings.TrimSpace(reply[1:]))
	}
	return err
}

// unclear is an error after which a command may or may not have taken effect.
type unclear string

func (u unclear) Error() string { return string(u) }

// RedisError marks it as such.
func (u unclear) RedisError() {}

// SetReadTimeout does nothing: the worker's client has its own.
func (h *host) SetReadTimeout(time.Duration) {}

// WasCrowded reports false: the worker's pool is its own.
func (h *host) WasCrowded() bool { return false }

// IsUnclear reports false: see unclear.
func (h *host) IsUnclear(error) bool { return false }

// Attribute implements [world.Attributing]. A command of a kind that in normal use is sent between calls only is of
// none.
func (h *host) Attribute(args []string) (client string, is bool) {
	return "", h.bench.isOfCall(kindOf(args), h.calling.Load() > 0)
}

// kindOf returns what tells commands apart: the name, or the hash of the script.
func kindOf(args []string) string {
	switch name := strings.ToUpper(args[0]); {
	case name == "EVAL" && len(args) > 1:
		sum := sha1.Sum([]byte(args[1]))
		return hex.EncodeToString(sum[:])
	case name == "EVALSHA" && len(args) > 1:
		return strings.ToLower(args[1])
	default:
		return name
	}
}

// Freeze implements [world.Halting]: it stops the worker too, if that is asked for.
func (h *host) Freeze() {
	if h.bench.Stop {
		_ = h.worker.process.Stop() // it may have ended
	}
}

// Thaw implements [world.Halting].
func (h *host) Thaw() {
	if h.bench.Stop {
		_ = h.worker.process.Continue() // as above
	}
}

// Crash implements [world.Halting]: the worker is killed. Of a shared one, the connections of the process end.
func (h *host) Crash() { _ = h.Close() }

// Close ends the connections, and a worker that is not shared.
func (h *host) Close() error {
	h.end()
	if h.bench.shared == nil && h.worker != nil {
		<-h.worker.process.Ended()
	}
	return nil
}
