//go:build live

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// onServer measures on a redis-server, or skips the test where none is installed.
func onServer(t *testing.T, measure func(*site)) {
	t.Helper()
	b := &bench{t.Context(), true}
	redisserver.Need(t, attempt(func() { b.onSite(measure) }))
}

// Convicts a counter of round trips that misses one or sees two, and one of
// commands that counts what scripts call.
func TestCountsAgreeWithWhatTheServerSaw(t *testing.T) {
	for _, kind := range kinds {
		onServer(t, func(s *site) {
			w := s.start(task{Kind: kind, Count: true})
			w.ask(order{Do: pairsOrder, N: 10, Side: 1})
			var a answer
			sent := s.sent(func() { a = w.ask(order{Do: pairsOrder, N: 10, Side: 1}) })
			require.EqualValues(t, 20, a.Trips, kind)
			require.Equal(t, 30, sent.sum(), "%s: with the half of it that comes before: %v", kind, sent)
		})
	}
}

// Convicts a count that only knows scripts: a lock that sends a command more is
// found out.
func TestOneMoreCommandCounts(t *testing.T) {
	onServer(t, func(s *site) {
		require.Equal(t, counts{"ping": 1}, s.sent(func() { s.rdb.Ping(t.Context()) }))
		before := s.info("stats", "total_connections_received")
		require.NoError(t, redisserver.Ping(t.Context(), s.server.Addr()))
		require.Equal(t, before+1, s.info("stats", "total_connections_received"))
	})
}

func TestEveryRowHasACellForEachKind(t *testing.T) {
	rows, err := measure(&bench{t.Context(), true}, "")
	redisserver.Need(t, err)
	require.Len(t, rows, 11)
	for _, row := range rows {
		for _, kind := range kinds {
			require.Regexp(t, `^(\d+|\d+\.\d\d( \(.*\))?|\d+, \d+|\d+\.\d\d, \d+\.\d\d|renews nothing)$`, row.Cells[kind], "%s: %s", row.What, kind)
		}
	}
	for _, kind := range kinds {
		require.Equal(t, "2.00", rows[0].Cells[kind], "round trips")
	}
}

// Convicts a second timer in Unlock, a connection for each name or hand-over, a waiter that
// polls, and a command or a goroutine for each lock that is held.
func TestWhatStage6CostsAndWhatItDoesNot(t *testing.T) {
	rows, err := measure(&bench{t.Context(), true}, "1,2,5,6,7,9")
	redisserver.Need(t, err)
	numbers := func(row int, kind string) (first, second float64) {
		t.Helper()
		_, err := fmt.Sscanf(rows[row].Cells[kind]+", 0", "%g, %g", &first, &second)
		require.NoError(t, err)
		return first, second
	}
	of := func(row int, kind string) float64 {
		first, _ := numbers(row, kind)
		return first
	}
	const trips, allocations, idle, crowd, held, names = 0, 1, 3, 4, 5, 6 // row 2 has two lines
	require.EqualValues(t, 2, of(trips, stage6Kind))
	require.LessOrEqual(t, of(allocations, stage6Kind), 22.0)
	for _, other := range []string{bsmKind, redsyncKind, rueidisKind} {
		require.Less(t, of(allocations, stage6Kind), of(allocations, other), other)
	}
	require.LessOrEqual(t, of(idle, stage6Kind), 2.0)
	attempts, connections := numbers(crowd, stage6Kind)
	require.LessOrEqual(t, attempts, 1.1*of(crowd, rueidisKind), "attempts for a hand-over: few are counted here")
	require.Zero(t, connections, "new connections for a hand-over")
	goroutines, renewals := numbers(held, stage6Kind)
	require.LessOrEqual(t, goroutines, 10.0)
	require.LessOrEqual(t, renewals, 400.0, "of 20,000 locks in a period: 100 share a command, and a busy machine makes up for late ones")
	require.LessOrEqual(t, of(names, stage6Kind), of(names, bsmKind)+3, "redislock has its pool alone")
}

func TestLostProcessEndsTheMeasurement(t *testing.T) {
	onServer(t, func(s *site) {
		w := s.start(task{Kind: stage6Kind})
		require.ErrorContains(t, attempt(func() { w.ask(order{Do: "dance"}) }), `there is no order "dance"`)
		w.Kill()
		require.Error(t, attempt(func() { w.ask(order{Do: holdOrder, N: 1}) }))
	})
}
