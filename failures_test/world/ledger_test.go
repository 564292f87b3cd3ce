package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// fenced is a lock whose token the test sets.
type fenced struct {
	lock
	token *int64
}

func (f *fenced) Token(context.Context) int64 { return *f.token }

// fencedBy gives the processes these tokens, in order.
func fencedBy(tokens ...*int64) world.Constructor {
	next := 0
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		next++
		return &fenced{lock{rdb, "lock:" + name, lease}, tokens[next-1]}, nil
	}
}

func TestLedgerWithoutGuardAcceptsEverything(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "free", a.Check("tea").Answer().String())
		require.Equal(t, "inserted", b.Insert("tea").Answer().String())
		require.Equal(t, "taken", a.Check("tea").Answer().String())
		require.Equal(t, "inserted", a.Insert("tea").Answer().String())
	})
}

func TestFencedLedgerRefusesOldTokens(t *testing.T) {
	one, two := int64(1), int64(2)
	runWith(t, world.Config{New: fencedBy(&one, &two), Guard: world.TokenGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "inserted", a.Insert("tea").Answer().String())
		require.Equal(t, "inserted", a.Insert("milk").Answer().String(), "the same holder may write twice")
		require.Equal(t, "inserted", b.Insert("bread").Answer().String())
		require.Equal(t, "refused: token 1, seen 2", a.Insert("salt").Answer().String())
		one = 2
		require.Equal(t, "refused: token 2, seen 2", a.Insert("salt").Answer().String(), "an equal token of another owner")
	})
}

// Both find the name free. If the check did not count the token, the ledger would accept both
// orders.
func TestFencedLedgerRefusesAWriteAfterTheNextHoldersCheck(t *testing.T) {
	one, two := int64(1), int64(2)
	runWith(t, world.Config{New: fencedBy(&one, &two), Guard: world.TokenGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "free", a.Check("tea").Answer().String())
		require.Equal(t, "free", b.Check("tea").Answer().String())
		require.Equal(t, "refused: token 1, seen 2", a.Insert("tea").Answer().String())
		require.Equal(t, "inserted", b.Insert("tea").Answer().String())
		require.Equal(t, "refused: token 1, seen 2", a.Check("tea").Answer().String())
	})
}

func TestFencedLedgerRefusesALockWithoutTokens(t *testing.T) {
	runWith(t, world.Config{New: newLock, Guard: world.TokenGuard}, func(w *world.World) {
		require.Equal(t, "refused: token 0, seen 0", w.Client("A").Insert("tea").Answer().String())
	})
}

func TestGuardsAnswerTheSecondOrderWithTheSameName(t *testing.T) {
	for guard, want := range map[world.Guard]string{
		world.NoGuard:          "inserted",
		world.UniqueGuard:      "refused: the name is taken (unique key)",
		world.VersionGuard:     "refused: version 1, now 2",
		world.StockGuard:       "0 rows: none left",
		world.IdempotencyGuard: "done before: tea by B",
	} {
		tr := runWith(t, world.Config{New: newLock, Guard: guard}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Check("tea")
			b.Check("tea")
			require.Equal(t, "inserted", b.Insert("tea").Answer().String(), guard)
			require.Equal(t, want, a.Insert("tea").Answer().String(), guard)
			a.Check("milk")
			require.Equal(t, "inserted", a.Insert("milk").Answer().String(), "%s: after another read, for a free name", guard)
		})
		stored := events(tr, trace.Stored)
		require.Equal(t, guard != world.NoGuard, stored[3].Answer.Refuses() || stored[3].Answer.AddsNothing(), guard)
		require.False(t, stored[3].IsStale(), guard)
	}
}

func TestVersionGuardCountsOrdersOfAllNames(t *testing.T) {
	runWith(t, world.Config{New: newLock, Guard: world.VersionGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "free at version 1", a.Check("milk").Answer().String())
		require.Equal(t, "refused: version 0, now 1", b.Insert("tea").Answer().String(), "B has read nothing")
		b.Check("tea")
		b.Insert("tea")
		require.Equal(t, "refused: version 1, now 2", a.Insert("milk").Answer().String())
	})
}

func TestOrdersAreVisibleToOthersAfterCommit(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Begin()
		require.Equal(t, "inserted, not committed", a.Insert("tea").Answer().String())
		require.Equal(t, "taken", a.Check("tea").Answer().String(), "its own")
		require.Equal(t, "free", b.Check("tea").Answer().String())
		require.Equal(t, "done", a.Commit().Answer().String())
		require.Equal(t, "taken", b.Check("tea").Answer().String())
		require.Equal(t, "inserted", a.Insert("milk").Answer().String(), "after the transaction")
	})
	runWith(t, world.Config{New: newLock, Guard: world.UniqueGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Begin()
		a.Insert("tea")
		b.Insert("tea")
		require.Equal(t, trace.NameTaken, a.Commit().Answer().Kind, "the guard checks again at commit")
		require.Equal(t, "free", b.Check("milk").Answer().String())
	})
}

func TestDelayedWriteKeepsItsToken(t *testing.T) {
	one := int64(1)
	tr := runWith(t, world.Config{New: fencedBy(&one), Guard: world.TokenGuard}, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Insert).Delay(time.Minute)
		write := a.Insert("tea")
		require.False(t, write.Over(), "the scenario continues while the write is delayed")
		one = 7
		w.Sleep(time.Minute)
		require.True(t, write.Over())
	})
	stored := events(tr, trace.Stored)
	require.Equal(t, time.Minute, stored[0].At)
	require.Equal(t, []trace.Order{{Name: "tea", Client: "A", Token: 1}}, stored[0].Orders)
}
