package main

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
)

// traffic counts what passes over the connections of one client.
type traffic struct {
	writes   atomic.Int64 // one for each round trip of a client that does not pipeline
	messages atomic.Int64 // of pub/sub
}

// dial is for redis.Options.Dialer.
func (t *traffic) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, traffic: t}, nil
}

type countedConn struct {
	net.Conn
	traffic *traffic
	seen    []byte // what was read last, after the end of what was read before
}

// Write counts.
func (c *countedConn) Write(b []byte) (int, error) {
	c.traffic.writes.Add(1)
	return c.Conn.Write(b)
}

// Read counts the messages in what it reads.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.seen = append(c.seen, b[:n]...)
	c.traffic.messages.Add(int64(bytes.Count(c.seen, messageHead) + bytes.Count(c.seen, shardedHead)))
	if bytes.HasSuffix(c.seen, messageHead) { // it is counted
		c.seen = c.seen[:0]
	}
	keep := min(len(c.seen), len(shardedHead)-1)
	c.seen = append(c.seen[:0], c.seen[len(c.seen)-keep:]...)
	return n, err
}

// How a message begins, in both protocols. They cannot be part of a name or of a
// payload here: those of this benchmark have no line ends.
var (
	messageHead = []byte("$7\r\nmessage\r\n")
	shardedHead = []byte("$8\r\nsmessage\r\n")
)
