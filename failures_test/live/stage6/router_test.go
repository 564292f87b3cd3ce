//go:build live

package stage6_test

import (
	"bufio"
	"hash/crc32"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2/proto"
	miniserver "github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"
)

// router is a proxy in front of several servers, like Codis, twemproxy or Envoy. It sends a command
// to the server of its first key or channel, and a command without keys to all servers.
type router struct {
	*miniserver.Server
	servers  []*server
	sameSlot bool         // scripts for several locks are refused
	shared   atomic.Int64 // scripts for several locks so far
}

// startRouter starts a router and two servers, which end with the test.
func startRouter(t *testing.T, sameSlot bool) *router {
	t.Helper()
	r := &router{servers: []*server{start(t), start(t)}, sameSlot: sameSlot}
	var err error
	r.Server, err = miniserver.NewServer("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(r.Close)
	r.SetPreHook(r.handle)
	return r
}

// indexOf returns the index of the server that has the key or channel.
func (r *router) indexOf(key string) int {
	return int(crc32.ChecksumIEEE([]byte(tagOf(key))) % uint32(len(r.servers)))
}

// tagOf returns the hash tag of a key: the text in its first braces, or all of it.
func tagOf(key string) string {
	_, after, _ := strings.Cut(key, "{")
	if tag, _, ok := strings.Cut(after, "}"); ok {
		return tag
	}
	return key
}

// keysOf returns the keys of a script, or the first key or channel of another command.
func keysOf(name string, args []string) []string {
	switch name {
	case "AUTH", "CLIENT", "HELLO", "PING", "SCRIPT", "SELECT":
		return nil
	case "EVAL", "EVALSHA":
		count, _ := strconv.Atoi(args[1]) // the lock sends a number
		return args[2 : 2+count]
	}
	return args[:min(1, len(args))]
}

// session has a client's connection to each server.
type session struct {
	links      []*link
	subscribed *link // nil before SUBSCRIBE
}

// link is a connection to one server.
type link struct {
	net.Conn
	replies *bufio.Reader
}

// handle executes one command of a client. A broken server breaks the client's connection.
func (r *router) handle(c *miniserver.Peer, name string, args ...string) bool {
	keys := keysOf(name, args)
	if slices.ContainsFunc(keys, func(key string) bool { return tagOf(key) != tagOf(keys[0]) }) {
		r.shared.Add(1)
		if r.sameSlot {
			c.WriteError("ERR eval/evalsha command keys must be in same slot")
			return true
		}
	}
	s, err := r.sessionOf(c)
	if err == nil {
		to := s.links
		if len(keys) > 0 {
			to = to[r.indexOf(keys[0]):][:1]
		}
		err = s.send(c, to, append([]string{name}, args...))
	}
	if err != nil {
		c.Close()
	}
	return true
}

// sessionOf returns the client's session, which begins with its first command.
func (r *router) sessionOf(c *miniserver.Peer) (*session, error) {
	if s, ok := c.Ctx.(*session); ok {
		return s, nil
	}
	s := &session{}
	for _, server := range r.servers {
		conn, err := net.Dial("unix", server.Socket())
		if err != nil {
			return nil, err
		}
		c.OnDisconnect(func() { _ = conn.Close() }) // the server may have closed it
		s.links = append(s.links, &link{conn, bufio.NewReader(conn)})
	}
	c.Ctx = s
	return s, nil
}

// send sends a command to servers and answers with the first reply. After SUBSCRIBE, all commands
// go to the server of that channel, and the client gets everything that it sends.
func (s *session) send(c *miniserver.Peer, to []*link, command []string) error {
	if command[0] == "SUBSCRIBE" && s.subscribed == nil {
		s.subscribed = to[0]
		go s.subscribed.copyTo(c)
	}
	if s.subscribed != nil {
		return proto.Write(s.subscribed, command)
	}
	var replies []string
	for _, l := range to {
		if err := proto.Write(l, command); err != nil {
			return err
		}
		reply, err := proto.Read(l.replies)
		if err != nil {
			return err
		}
		replies = append(replies, reply)
	}
	c.WriteRaw(replies[0])
	return nil
}

// copyTo copies replies and messages to the client until the connection ends.
func (l *link) copyTo(c *miniserver.Peer) {
	for {
		raw, err := proto.Read(l.replies)
		if err != nil {
			return
		}
		c.WriteRaw(raw)
		c.Flush()
	}
}
