package main

import (
	"context"
	"net"
	"sync/atomic"
)

// trips counts the round trips on the connections of one client: how often
// something is sent after an answer was read, or as the first.
type trips struct{ made atomic.Int64 }

// dial opens a connection that is counted.
func (t *trips) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	return &countedConn{Conn: conn, trips: t}, err
}

type countedConn struct {
	net.Conn
	trips   *trips
	sending atomic.Bool
}

// Write counts what begins a round trip.
func (c *countedConn) Write(b []byte) (int, error) {
	if !c.sending.Swap(true) {
		c.trips.made.Add(1)
	}
	return c.Conn.Write(b)
}

// Read ends a round trip.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.sending.Store(false)
	return n, err
}
