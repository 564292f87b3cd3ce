package main

import (
	"bufio"
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
)

func TestMain(m *testing.M) {
	serve()
	status := m.Run()
	if fleet.Running() > 0 {
		panic("a redis-server is left")
	}
	os.Exit(status)
}

func TestQuantileIsTheNearestMeasuredValue(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	require.Equal(t, 3.0, median(values))
	require.Equal(t, 1.0, quantile(values, 0))
	require.Equal(t, 5.0, quantile(values, 0.99))
	require.Equal(t, []float64{5, 1, 4, 2, 3}, values, "it sorts a copy")
}

// Convicts a ratio the wrong way round, one of totals, which one slow round would
// spoil, and a redislock that is compared with itself in the same lap.
func TestRateIsTheMedianOfTheRatiosOfTheRounds(t *testing.T) {
	laps := map[string][]answer{}
	for name, took := range map[string][]time.Duration{
		bsmKind: {1, 2, 1}, again: {2, 2, 1}, stage6Kind: {2, 4, 100}, redsyncKind: {1, 1, 1}, rueidisKind: {1, 2, 1},
	} {
		for _, d := range took {
			laps[name] = append(laps[name], answer{Took: d})
		}
	}
	require.Equal(t, map[string]string{
		stage6Kind: "0.50 (0.01–0.50)", bsmKind: "1.00 (0.50–1.00)", redsyncKind: "1.00 (1.00–2.00)", rueidisKind: "1.00 (1.00–1.00)",
	}, rates(laps))
}

func TestCommandsOfScriptsDoNotCount(t *testing.T) {
	lines := `+1753000000.100000 [0 127.0.0.1:40000] "EVALSHA" "a1" "1" "order:1001" "] \"get\""
+1753000000.200000 [0 lua] "hset" "order:1001" "x" "1"
+1753000000.300000 [0 unix:/tmp/redis] "set" "order:1002" "[0 lua] \"del\"" "NX"
+1753000000.400000 [0 127.0.0.1:40000] "evalsha" "a1" "1" "order:1001"
+1753000000.500000 [0 unix:/tmp/redis] "echo" "the end of what is counted"
+1753000000.600000 [0 127.0.0.1:40000] "get" "order:1001"
`
	sent := count(bufio.NewReader(strings.NewReader(lines)))
	require.Equal(t, counts{"evalsha": 2, "set": 1}, sent)
	require.Equal(t, 3, sent.sum())
}

// always is a connection that takes all, and always has an answer.
type always struct{ net.Conn }

func (always) Write(b []byte) (int, error) { return len(b), nil }
func (always) Read(b []byte) (int, error)  { return len(b), nil }

func TestRoundTripBeginsWithWhatIsSentAfterAnAnswer(t *testing.T) {
	made := &trips{}
	conn := &countedConn{Conn: always{}, trips: made}
	for i, writes := range []int{1, 1, 2} { // two are a pipeline
		for range writes {
			_, _ = conn.Write([]byte("PING"))
		}
		_, _ = conn.Read(make([]byte, 8))
		require.EqualValues(t, i+1, made.made.Load())
	}
}

// Convicts a waiter that asks anew and keeps what it got in the last moment.
func TestPatientWaiterAsksAnewWithoutALostLock(t *testing.T) {
	var asked []string
	lock := func(ctx context.Context) (held, error) {
		switch len(asked) {
		case 0:
			<-ctx.Done() // a wake-up that is lost
			asked = append(asked, "lost")
			return nil, ctx.Err()
		case 1:
			<-ctx.Done()
			asked = append(asked, "late")
			return rueidisHold(func() { asked = append(asked, "unlocked") }), nil
		}
		return nil, redis.ErrClosed
	}
	_, err := patiently(lock, time.Millisecond)
	require.ErrorIs(t, err, redis.ErrClosed)
	require.Equal(t, []string{"lost", "late", "unlocked"}, asked)
}

func TestThereAreNineRows(t *testing.T) {
	for _, numbers := range []string{"1,10", "0", "x"} {
		_, err := measure(&bench{t.Context(), true}, numbers)
		require.ErrorContains(t, err, "choose from 1 to 9")
	}
}
