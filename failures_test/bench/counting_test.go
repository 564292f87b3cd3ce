package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
)

// testServer skips where there is no redis-server, but fails with CI=true.
func testServer(t *testing.T) *server {
	t.Helper()
	s, err := startServer(t.Context())
	if errors.Is(err, redisserver.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	require.NoError(t, s.rdb.Ping(t.Context()).Err()) // what connecting sends is sent
	return s
}

// monitor counts, by what MONITOR says, the commands that come from clients other
// than the one that counts. It marks those of scripts with "lua".
func monitor(t *testing.T, s *server, work func()) int {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("MONITOR\r\n"))
	require.NoError(t, err)
	lines := bufio.NewScanner(conn)
	require.True(t, lines.Scan()) // +OK
	work()
	const end = "the end of what is counted"
	require.NoError(t, s.rdb.Echo(t.Context(), end).Err())
	n := 0
	for lines.Scan() && !strings.Contains(lines.Text(), end) {
		if !strings.Contains(lines.Text(), " lua]") && !strings.Contains(lines.Text(), `"info"`) {
			n++
		}
	}
	require.NoError(t, lines.Err())
	return n
}

// Convicts a list of inner commands that names one which the library sends itself,
// or lacks one which its scripts call.
func TestCountsAgreeWithWhatTheServerSaw(t *testing.T) {
	s := testServer(t)
	for _, kind := range []string{stage6Kind, floorKind, bsmKind, redsyncKind, rueidisKind} {
		t.Run(kind, func(t *testing.T) {
			l, _, err := open(kind, settings{Addr: s.addr()})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, l.close()) })
			pair := l.pair("counted:" + kind)
			require.NoError(t, repeat(t.Context(), 3, pair))
			var executed counts
			seen := monitor(t, s, func() {
				executed, err = s.during(t.Context(), func() error { return repeat(t.Context(), 10, pair) })
				require.NoError(t, err)
			})
			require.Equal(t, seen, executed.wire(inside(kind)))
			require.GreaterOrEqual(t, seen, 20)
		})
	}
}

// Convicts a counter that only knows scripts: a lock that sends a command more is
// found out.
func TestOneMoreCommandCounts(t *testing.T) {
	s := testServer(t)
	rdb := goRedis(s.addr(), nil)
	defer rdb.Close()
	require.NoError(t, rdb.Ping(t.Context()).Err())
	executed, err := s.during(t.Context(), func() error { return rdb.Ping(t.Context()).Err() })
	require.NoError(t, err)
	require.Equal(t, 1, executed.wire(inside(stage6Kind)))
}

func TestCountsReadsNamesWithSubcommands(t *testing.T) {
	c, err := parseCounts("# Commandstats\r\ncmdstat_client|setinfo:calls=2,usec=5\r\ncmdstat_get:calls=11,usec=1\r\n")
	require.NoError(t, err)
	require.Equal(t, counts{"client|setinfo": 2, "get": 11}, c)
	require.Equal(t, counts{"get": 4}, c.since(counts{"client|setinfo": 2, "get": 7}))
	_, err = parseCounts("cmdstat_get:calls=many,usec=1\r\n")
	require.Error(t, err)
}

// Convicts a reader that loses a message which comes in two pieces, or counts one
// twice.
func TestMessagesAreCountedHoweverTheyArrive(t *testing.T) {
	const stream = ">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\n0\r\n*3\r\n$8\r\nsmessage\r\n$2\r\nch\r\n$1\r\n0\r\n+OK\r\n"
	for size := 1; size <= len(stream); size++ {
		ours, theirs := net.Pipe()
		counted := &countedConn{Conn: ours, traffic: &traffic{}}
		go func() {
			_, _ = theirs.Write([]byte(stream)) // a short one shows in the count
			_ = theirs.Close()
		}()
		buffer := make([]byte, size)
		for {
			if _, err := counted.Read(buffer); err != nil {
				break
			}
		}
		require.EqualValues(t, 2, counted.traffic.messages.Load(), "in pieces of %d bytes", size)
	}
}

func TestTrafficCountsMessagesOfARealSubscription(t *testing.T) {
	s := testServer(t)
	counted := &traffic{}
	rdb := goRedis(s.addr(), counted)
	defer rdb.Close()
	sub := rdb.Subscribe(t.Context(), "channel")
	defer sub.Close()
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, s.rdb.Publish(t.Context(), "channel", fmt.Sprint(i)).Err())
	}
	for range 3 {
		_, err := sub.ReceiveMessage(t.Context())
		require.NoError(t, err)
	}
	require.EqualValues(t, 3, counted.messages.Load())
}

// Convicts a floor that is lower than what stage 6 sends.
func TestFloorIsTheTwoCommandsOfALock(t *testing.T) {
	s := testServer(t)
	calls, err := recordPair(settings{Addr: s.addr()}, "floor")
	require.NoError(t, err)
	require.Len(t, calls, 2)
	l, _, err := open(floorKind, settings{Addr: s.addr()})
	require.NoError(t, err)
	defer l.close()
	executed, err := s.during(t.Context(), func() error { return repeat(t.Context(), 5, l.pair("floor")) })
	require.NoError(t, err)
	require.GreaterOrEqual(t, executed["hset"], 5, "it takes the lock each time")
	require.GreaterOrEqual(t, executed["publish"], 5, "and frees it")
}

// Convicts a waiter that asks anew and keeps what it got in the last moment.
func TestPatientWaiterAsksAnewWithoutALostLock(t *testing.T) {
	asked := 0
	l := &locker{lock: func(ctx context.Context, _ string) (held, error) {
		if asked++; asked == 1 {
			<-ctx.Done() // a wake-up that is lost
			return held{}, ctx.Err()
		}
		return held{unlock: func() error { return redis.ErrClosed }}, nil
	}}
	h, err := patiently(t.Context(), l, "name")
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	require.ErrorIs(t, h.unlock(), redis.ErrClosed)
}
