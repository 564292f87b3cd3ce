package stage6_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// plainNames have no braces. Neighbours in the list are easily confused.
var plainNames = []string{
	"order", "order ", " order", "Order", "order\n", "order\r\n", "order\x00", "order\t", " ", "\n",
	"\xff", "\xfe", "\ufffd", "\xff\xfe", "caf\u00e9", "cafe\u0301", "订单:1001",
	"order*", "order?", "order:token", "lock__channel:order", "0", "-1", "$5\r\norder",
	strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10-1), strings.Repeat("\n", 64<<10),
}

// bracedNames have some.
var bracedNames = []string{
	"{}", "{}x", "{", "a{b", "a}b", "a}", "{order}", "{order}:1001", "{order", "{{order}}", "a{}b", "a{b}c{d}", "{ }", "{\n}",
}

// namedMutex returns the lock of that name, or nil if it is refused with one clear line.
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

// layouts are the names of keys and channels, with the names of locks that each may refuse: Redisson's key is
// the name, and braces are a hash tag.
var layouts = map[string]struct {
	option stage6.Option
	maybe  []string
	names  func(name string) (key, token, channel string)
}{
	"default": {stage6.WithPrefix("lock:"), nil, func(name string) (key, token, channel string) {
		return "lock:{" + name + "}", "lock:{" + name + "}:token", "lock__channel:{" + name + "}"
	}},
	"Redisson": {stage6.WithRedissonNames(), bracedNames, func(name string) (key, token, channel string) {
		tag := name
		if !strings.Contains(name, "{") {
			tag = "{" + name + "}"
		}
		return name, tag + ":token", "redisson_lock__channel:" + tag
	}},
}

// eachName runs a test for both layouts, with a mutex for each name in two processes.
func eachName(t *testing.T, test func(t *testing.T, r *redisNode, tokenOf func(string) string, one, two []*stage6.Mutex)) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				a, b := r.Service(layout.option), r.Service(layout.option)
				var one, two []*stage6.Mutex
				for _, name := range slices.Concat(plainNames, bracedNames) {
					m, same := namedMutex(t, a, name), namedMutex(t, b, name)
					require.Equal(t, m == nil, same == nil, "the same in both processes")
					if m != nil {
						require.Equal(t, name, m.Name())
						one, two = append(one, m), append(two, same)
					} else {
						require.Contains(t, layout.maybe, name, "it is refused")
					}
				}
				tokenOf := func(name string) string {
					_, token, _ := layout.names(name)
					return token
				}
				test(t, r, tokenOf, one, two)
			})
		})
	}
}

// All are held at the same time. Finds a layout that trims, folds or cuts a name.
func TestStrangeNamesAreDistinctLocks(t *testing.T) {
	eachName(t, func(t *testing.T, _ *redisNode, _ func(string) string, one, _ []*stage6.Mutex) {
		for _, m := range one {
			hold := lock(t, m, t.Context())
			count, err := m.HoldCount(hold.Context())
			require.NoError(t, err)
			require.Equal(t, 1, count, "%.20q", m.Name())
		}
	})
}

// Each name is used for exclusion, re-entry, a waiter in another process that is woken,
// and release. Finds a channel name that is changed on its way, and a wait for the
// holder of another lock.
func TestStrangeNamesLockAndWake(t *testing.T) {
	eachName(t, func(t *testing.T, r *redisNode, tokenOf func(string) string, one, two []*stage6.Mutex) {
		var holds []*stage6.Hold
		var waiting []chan outcome
		tokens := map[string]bool{}
		for i, m := range one {
			hold := lock(t, m, t.Context())
			_, err := two[i].TryLock(t.Context())
			require.ErrorIs(t, err, stage6.ErrLocked)
			require.NoError(t, lock(t, m, hold.Context()).Unlock())
			holds, waiting = append(holds, hold), append(waiting, startLock(two[i], t.Context()))
			tokens[tokenOf(m.Name())] = true
		}
		for i, hold := range holds {
			requireWaiting(t, waiting[i])
			require.NoError(t, hold.Unlock())
			require.NoError(t, requireHeld(t, waiting[i]).Unlock())
		}
		for _, left := range r.Keys() {
			require.True(t, tokens[left], "%.20q is left", left)
		}
	})
}

// Redisson's layout has no prefix, so a name can be another lock's token. They
// disturb each other and return errors, but never let a second client in.
func TestNameThatIsAnotherLocksTokenIsAnError(t *testing.T) {
	const isNoLock = "the key holds no lock of this kind, but something else"
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service(stage6.WithRedissonNames())
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
