package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// fenced is a lock whose holds carry the token that the test sets.
type fenced struct {
	lock
	token *int64
}

func (f *fenced) Token(context.Context) int64 { return *f.token }

// fencedBy gives each client the token that its process asks for, in order.
func fencedBy(tokens ...*int64) world.Constructor {
	next := 0
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		next++
		return &fenced{lock{rdb, "lock:" + name, lease}, tokens[next-1]}, nil
	}
}

func TestPlainLedgerTakesEverything(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "free", a.Check("tea").Answer())
		require.Equal(t, "inserted", b.Insert("tea").Answer())
		require.Equal(t, "taken", a.Check("tea").Answer())
		require.Equal(t, "inserted", a.Insert("tea").Answer())
	})
}

func TestFencedLedgerRefusesOldTokens(t *testing.T) {
	one, two := int64(1), int64(2)
	runWith(t, world.Config{New: fencedBy(&one, &two), Guard: world.TokenGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "inserted", a.Insert("tea").Answer())
		require.Equal(t, "inserted", a.Insert("milk").Answer(), "the same holder may write twice")
		require.Equal(t, "inserted", b.Insert("bread").Answer())
		require.Equal(t, "refused: token 1, seen 2", a.Insert("salt").Answer())
		one = 2
		require.Equal(t, "refused: token 2, seen 2", a.Insert("salt").Answer(), "an equal token of another owner")
	})
}

// Both have seen that the name is free. Without a look at the token of the check
// the ledger would take both orders.
func TestFencedLedgerRefusesAWriteAfterTheNextHoldersCheck(t *testing.T) {
	one, two := int64(1), int64(2)
	runWith(t, world.Config{New: fencedBy(&one, &two), Guard: world.TokenGuard}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.Equal(t, "free", a.Check("tea").Answer())
		require.Equal(t, "free", b.Check("tea").Answer())
		require.Equal(t, "refused: token 1, seen 2", a.Insert("tea").Answer())
		require.Equal(t, "inserted", b.Insert("tea").Answer())
		require.Equal(t, "refused: token 1, seen 2", a.Check("tea").Answer())
	})
}

func TestFencedLedgerRefusesALockWithoutTokens(t *testing.T) {
	runWith(t, world.Config{New: newLock, Guard: world.TokenGuard}, func(w *world.World) {
		require.Equal(t, "refused: token 0, seen 0", w.Client("A").Insert("tea").Answer())
	})
}

func TestWriteOnItsWayKeepsItsTokenAndArrivesLate(t *testing.T) {
	one := int64(1)
	trace := runWith(t, world.Config{New: fencedBy(&one), Guard: world.TokenGuard}, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Insert).Delay(time.Minute)
		write := a.Insert("tea")
		require.False(t, write.Over(), "the scenario goes on while the write is on its way")
		one = 7
		w.Sleep(time.Minute)
		require.True(t, write.Over())
	})
	stored := events(trace, world.Stored)
	require.Equal(t, time.Minute, stored[0].At)
	require.Equal(t, []world.Order{{Name: "tea", Client: "A", Token: 1}}, stored[0].Orders)
}
