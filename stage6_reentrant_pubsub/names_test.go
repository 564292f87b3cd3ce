package stage6_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// plainNames have no braces. Neighbours in the list are easily taken for one.
var plainNames = []string{
	"order", "order ", " order", "Order", "order\n", "order\r\n", "order\x00", "order\t", " ", "\n",
	"\xff", "\xfe", "\ufffd", "\xff\xfe", "caf\u00e9", "cafe\u0301", "订单:1001",
	"order*", "order?", "order:token", "lock__channel:order", "0", "-1", "$5\r\norder",
	strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10-1), strings.Repeat("\n", 64<<10),
}

// bracedNames have some.
var bracedNames = []string{"{}", "{}x", "{", "a{b", "a}b", "a}", "{order}", "{order}:1001", "{order", "{{order}}", "a{}b", "a{b}c{d}", "{ }", "{\n}"}

// namedMutex is the lock of that name, nil if it is refused with one clear line.
func namedMutex(t *testing.T, svc *stage6.Service, name string) *stage6.Mutex {
	t.Helper()
	m, err := svc.Mutex(name)
	if err == nil {
		return m
	}
	require.Nil(t, m)
	require.NotContains(t, err.Error(), "\n")
	require.Contains(t, err.Error(), "stage6: lock name ")
	return nil
}

// namesOf are all that a layout has to take, and those that it may refuse.
func namesOf(layout string) (taken, maybe []string) {
	if layout == "default" {
		return append(append(taken, plainNames...), bracedNames...), nil
	}
	return plainNames, bracedNames // Redisson's key is the name: there braces are a hash tag
}

func layouts() map[string]stage6.Layout {
	return map[string]stage6.Layout{"default": stage6.DefaultLayout, "Redisson": stage6.RedissonLayout}
}

// All are held at one time: convicts a layout that trims, folds or cuts a name.
func TestStrangeNamesAreDistinctLocks(t *testing.T) {
	for layoutName, layout := range layouts() {
		t.Run(layoutName, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *fakeRedis) {
				svc := r.Service(stage6.WithLayout(layout))
				taken, maybe := namesOf(layoutName)
				for i, name := range append(taken, maybe...) {
					m := namedMutex(t, svc, name)
					if m == nil {
						require.GreaterOrEqual(t, i, len(taken), "%.20q is refused", name)
						continue
					}
					require.Equal(t, name, m.Name())
					hold := lock(t, m, t.Context())
					count, err := m.HoldCount(hold.Context())
					require.NoError(t, err)
					require.Equal(t, 1, count, "%.20q", name)
				}
			})
		})
	}
}

// A whole day of a lock with each name: exclusion, re-entry, a waiter in another
// process that is woken, release. Convicts a channel that differs on its way.
func TestStrangeNamesLockAndWake(t *testing.T) {
	for layoutName, layout := range layouts() {
		taken, maybe := namesOf(layoutName)
		for _, name := range append(taken, maybe...) {
			t.Run(fmt.Sprintf("%s %.12q", layoutName, name), func(t *testing.T) {
				inBubble(t, func(t *testing.T, r *fakeRedis) {
					a := namedMutex(t, r.Service(stage6.WithLayout(layout)), name)
					b := namedMutex(t, r.Service(stage6.WithLayout(layout)), name)
					if a == nil {
						require.Nil(t, b, "the same for everybody")
						return
					}
					hold := lock(t, a, t.Context())
					_, err := b.TryLock(t.Context())
					require.ErrorIs(t, err, stage6.ErrLocked)
					require.NoError(t, lock(t, a, hold.Context()).Unlock())
					waiting := startLock(b, t.Context())
					requireWaiting(t, waiting)
					require.NoError(t, hold.Unlock())
					require.NoError(t, requireHeld(t, waiting).Unlock())
					require.Equal(t, []string{layout.Token(name)}, r.Keys(), "only the token is left")
				})
			})
		}
	}
}

// Redisson's layout has no prefix, so a name can be another lock's token. They
// disturb each other, and say so; nobody gets in beside a holder.
func TestNameThatIsAnotherLocksTokenIsAnError(t *testing.T) {
	const isNoLock = "the key holds no lock of this kind, but something else"
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service(stage6.WithLayout(stage6.RedissonLayout))
		order := mutexOf(t, svc, "order")
		require.NoError(t, lock(t, order, t.Context()).Unlock())
		token := mutexOf(t, svc, "{order}:token")
		_, err := token.TryLock(t.Context())
		require.ErrorContains(t, err, isNoLock)

		r.FlushAll()
		hold := lock(t, token, t.Context())
		_, err = order.TryLock(t.Context())
		require.ErrorContains(t, err, isNoLock)
		require.False(t, r.Exists("order"), "nothing was written")
		require.NoError(t, hold.Unlock())
	})
}
