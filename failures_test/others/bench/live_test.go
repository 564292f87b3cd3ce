//go:build live

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
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

func TestLostProcessEndsTheMeasurement(t *testing.T) {
	onServer(t, func(s *site) {
		w := s.start(task{Kind: stage6Kind})
		require.ErrorContains(t, attempt(func() { w.ask(order{Do: "dance"}) }), `there is no order "dance"`)
		w.Kill()
		require.Error(t, attempt(func() { w.ask(order{Do: holdOrder, N: 1}) }))
	})
}
