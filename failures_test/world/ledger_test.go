package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
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
	return adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		next++
		return &fenced{lock{rdb, "lock:" + name, lease}, tokens[next-1]}, nil
	})
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
	runWith(t, world.Config{New: adapters.Plain(newLock), Guard: world.TokenGuard}, func(w *world.World) {
		require.Equal(t, "refused: token 0, seen 0", w.Client("A").Insert("tea").Answer().String())
	})
}

// No two guards give the same answers: each asks something else.
func TestEachGuardHasAPredicateOfItsOwn(t *testing.T) {
	const inserted, taken = "inserted", "refused: the name is taken (unique key)"
	for guard, want := range map[world.Guard][]string{
		world.NoGuard:          {inserted, inserted, inserted, inserted},
		world.TokenGuard:       {inserted, inserted, "refused: token 1, seen 2", inserted},
		world.UniqueGuard:      {taken, taken, inserted, taken},
		world.VersionGuard:     {"refused: version 1, now 2", inserted, inserted, inserted},
		world.StockGuard:       {inserted, inserted, inserted, "0 rows: none left"},
		world.IdempotencyGuard: {"request r1 done before: tea by A", inserted, "request r1 done before: tea by A", "request r2 done before: tea by B"},
	} {
		one, two := int64(1), int64(2)
		config := world.Config{New: fencedBy(&one, &two), Guard: guard, Pieces: 3}
		runWith(t, config, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			b.Request = "r2"
			a.Check("tea")
			require.Equal(t, inserted, a.Insert("tea").Answer().String(), guard)
			for i, next := range []func() *world.Call{
				func() *world.Call { return a.Insert("tea") }, // A repeats its write
				func() *world.Call { b.Check("tea"); return b.Insert("tea") },
				func() *world.Call { a.Check("milk"); return a.Insert("milk") }, // for the same request
				func() *world.Call { b.Check("tea"); return b.Insert("tea") },
			} {
				answer := next().Answer()
				require.Equal(t, want[i], answer.String(), "%s, write %d", guard, i+2)
				require.Equal(t, want[i] != inserted, answer.Refuses() || answer.AddsNothing(), guard)
			}
		})
	}
}

func TestItemIsFreeWhileThereArePieces(t *testing.T) {
	runWith(t, world.Config{New: adapters.Plain(newLock), Guard: world.StockGuard, Pieces: 2}, func(w *world.World) {
		a := w.Client("A")
		for _, want := range []string{"free", "free", "taken"} {
			require.Equal(t, want, a.Check("tea").Answer().String())
			a.Insert("tea")
		}
	})
}

func TestVersionGuardCountsOrdersOfAllNames(t *testing.T) {
	runWith(t, world.Config{New: adapters.Plain(newLock), Guard: world.VersionGuard}, func(w *world.World) {
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
	runWith(t, world.Config{New: adapters.Plain(newLock), Guard: world.UniqueGuard}, func(w *world.World) {
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
