//go:build live

package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lockkata/failures_test/live/redisserver"
)

// table has a row for each cost and a cell for each lock.
type table struct {
	rows  []string
	cells map[string]map[string]float64
}

func (tab *table) add(row, kind string, value float64) {
	if !slices.Contains(tab.rows, row) {
		tab.rows = append(tab.rows, row)
		tab.cells[row] = map[string]float64{}
	}
	tab.cells[row][kind] = value
}

func (tab *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\n", strings.Join(kinds, "\t"))
	for _, row := range tab.rows {
		fmt.Fprint(w, row)
		for _, kind := range kinds {
			if value, measured := tab.cells[row][kind]; measured {
				fmt.Fprintf(w, "\t%.2f", value)
			} else {
				fmt.Fprint(w, "\t–")
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}

const (
	tripsRow       = "lock + unlock: round trips"
	allocationsRow = "lock + unlock: allocations"
	idleRow        = "1,000 waiters for 2 s: round trips"
	acquiresRow    = "8 clients hand over: round trips to get the lock"
	connectionsRow = "8 clients hand over: new connections"
	goroutinesRow  = "20,000 locks held (rueidislock: 2,000): goroutines at rest"
	renewalsRow    = "20,000 locks held (rueidislock: 2,000): round trips in a period of renewal"
	namesRow       = "500 contended names: connections of the client that waits"
)

// The bounds of stage 6 rule out a second timer in Unlock, a connection for each name or
// hand-over, a waiter that polls, and a command or a goroutine for each lock that is held.
func TestCostsOfStage6StayWithinTheirBounds(t *testing.T) {
	tab := &table{cells: map[string]map[string]float64{}}
	for _, kind := range kinds {
		for _, m := range []struct {
			name string
			run  func(*testing.T, *table, string, *redisserver.Server)
		}{
			{"pair", measurePair}, {"waiters", measureWaiters}, {"crowd", measureCrowd}, {"held", measureHeld}, {"names", measureNames},
		} {
			t.Run(kind+"/"+m.name, func(t *testing.T) { m.run(t, tab, kind, startServer(t)) })
		}
	}
	fmt.Fprint(t.Output(), tab)
	for _, kind := range kinds {
		require.EqualValues(t, 2, tab.cells[tripsRow][kind], kind)
	}
	of := func(row string) float64 { return tab.cells[row][stage6Lock] }
	require.LessOrEqual(t, of(allocationsRow), 22.0)
	for _, other := range kinds[1:] {
		require.Less(t, of(allocationsRow), tab.cells[allocationsRow][other], other)
	}
	require.LessOrEqual(t, of(idleRow), 2.0)
	require.LessOrEqual(t, of(acquiresRow), 1.1*tab.cells[acquiresRow][rueidislockLock], "with a margin for the small numbers")
	require.Zero(t, of(connectionsRow))
	require.LessOrEqual(t, of(goroutinesRow), 10.0)
	require.LessOrEqual(t, of(renewalsRow), 400.0, "100 locks share a command, and a busy machine makes up for late ones")
	require.LessOrEqual(t, of(namesRow), tab.cells[namesRow][redislockLock]+3, "redislock has no connections besides its pool")
}

func measurePair(t *testing.T, tab *table, kind string, server *redisserver.Server) {
	l := open(t, kind, server, 0)
	lock, err := l.mutex("pair")
	require.NoError(t, err)
	locked := func() { require.NoError(t, pair(t.Context(), lock)) }
	locked() // connects, and loads the scripts
	before := l.trips.Load()
	for range 100 {
		locked()
	}
	tab.add(tripsRow, kind, float64(l.trips.Load()-before)/100)
	tab.add(allocationsRow, kind, testing.AllocsPerRun(1000, locked))
}

// wait starts goroutines that wait for locks until the test ends, and gives them a second to
// come to rest.
func (l locker) wait(t *testing.T, prefix string, names, goroutines int) {
	for i := range goroutines {
		go l.lock(t.Context(), fmt.Sprintf("%s:%d", prefix, i%names))
	}
	time.Sleep(time.Second)
}

// take takes n locks and keeps them.
func (l locker) take(t *testing.T, prefix string, n int) {
	var group errgroup.Group
	group.SetLimit(32)
	for i := range n {
		group.Go(func() error {
			_, err := l.lock(t.Context(), fmt.Sprintf("%s:%d", prefix, i))
			return err
		})
	}
	require.NoError(t, group.Wait())
}

func measureWaiters(t *testing.T, tab *table, kind string, server *redisserver.Server) {
	holder, waiters := open(t, kind, server, 0), open(t, kind, server, 0)
	holder.take(t, "idle", 1)
	waiters.wait(t, "idle", 1, 1000)
	before := waiters.trips.Load()
	time.Sleep(2 * time.Second)
	tab.add(idleRow, kind, float64(waiters.trips.Load()-before))
}

func measureNames(t *testing.T, tab *table, kind string, server *redisserver.Server) {
	holder, waiters := open(t, kind, server, 0), open(t, kind, server, 0)
	holder.take(t, "names", 500)
	waiters.wait(t, "names", 500, 500)
	tab.add(namesRow, kind, float64(waiters.dials.Load()))
}

func measureHeld(t *testing.T, tab *table, kind string, server *redisserver.Server) {
	const lease = 6 * time.Second
	locks := map[string]int{stage6Lock: 20_000, rueidislockLock: 2_000}[kind]
	period := map[string]time.Duration{stage6Lock: lease / 3, rueidislockLock: lease / 2}[kind]
	if locks == 0 {
		return // it renews nothing
	}
	before := runtime.NumGoroutine()
	l := open(t, kind, server, lease)
	l.take(t, "held", locks)
	trips, atRest := l.trips.Load(), runtime.NumGoroutine()
	for end := time.Now().Add(period); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		atRest = min(atRest, runtime.NumGoroutine())
	}
	tab.add(goroutinesRow, kind, float64(atRest-before))
	tab.add(renewalsRow, kind, float64(l.trips.Load()-trips))
}

// measureCrowd lets eight clients, as of eight processes, wait for a lock that then goes from one
// to the next.
func measureCrowd(t *testing.T, tab *table, kind string, server *redisserver.Server) {
	const clients, rounds = 8, 5
	holder := open(t, kind, server, 0)
	all := []locker{holder}
	for range clients {
		all = append(all, open(t, kind, server, 0))
	}
	sum := func() (trips, dials float64) {
		for _, l := range all {
			trips, dials = trips+float64(l.trips.Load()), dials+float64(l.dials.Load())
		}
		return trips, dials
	}
	var acquires, connections float64
	for round := range rounds {
		h, err := holder.lock(t.Context(), "crowd")
		require.NoError(t, err)
		var group errgroup.Group
		for _, l := range all[1:] {
			group.Go(func() error {
				h, err := l.bounded(func(ctx context.Context) (hold, error) { return l.lock(ctx, "crowd") })
				if err != nil {
					return err
				}
				time.Sleep(2 * time.Millisecond)
				return h.Unlock()
			})
		}
		time.Sleep(150 * time.Millisecond) // until all wait
		trips, dials := sum()
		require.NoError(t, h.Unlock())
		require.NoError(t, group.Wait())
		if after, dialed := sum(); round > 0 { // the first one connects
			acquires, connections = acquires+after-trips-clients-1, connections+dialed-dials
		}
	}
	tab.add(acquiresRow, kind, acquires/clients/(rounds-1))
	tab.add(connectionsRow, kind, connections/clients/(rounds-1))
}
