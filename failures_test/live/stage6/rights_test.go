//go:build live

package stage6_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// rights are the ACL rules that a user of locks needs, with any lock names.
const rights = "~lock:{* &lock__channel:{* +evalsha +eval " +
	"+hexists +hlen +hset +pexpire +pttl +get +set +time +del +publish +subscribe"

// questions are the additional rules for HoldCount. IsLocked and RemainingTTL need none.
const questions = "+hget"

// without returns the rights without one of them.
func without(right string) string {
	left := slices.DeleteFunc(strings.Fields(rights), func(word string) bool { return word == right })
	return strings.Join(left, " ")
}

// User returns a client of a user that has exactly those rights.
func (s *server) User(rights string) *redis.Client {
	s.t.Helper()
	rules := []any{"ACL", "SETUSER", "locker", "reset", "on", ">secret"}
	for _, right := range strings.Fields(rights) {
		rules = append(rules, right)
	}
	require.NoError(s.t, s.admin.Do(s.t.Context(), rules...).Err())
	return s.Client(func(o *redis.Options) { o.Username, o.Password = "locker", "secret" })
}

// useMost locks, re-enters, unlocks, is refused, forces and queries.
func useMost(t *testing.T, m *final.Mutex) error {
	outer, err := m.TryLock(t.Context())
	if err != nil {
		return err
	}
	defer func() { _ = outer.Unlock() }() // its error does not matter
	if _, err := m.TryLock(t.Context()); !errors.Is(err, final.ErrLocked) {
		return err
	}
	inner, err := m.TryLock(outer.Context())
	if err != nil {
		return err
	}
	_, asked := m.IsLocked(t.Context())
	_, left := m.RemainingTTL(t.Context())
	if err := errors.Join(asked, left, inner.Unlock(), outer.Unlock()); err != nil {
		return err
	}
	_, err = m.ForceUnlock(t.Context())
	return err
}

// useEverything uses everything a lock can do, including renewal and a waiter that is woken.
func useEverything(t *testing.T, s *server, rdb *redis.Client) error {
	renewed := make(chan error, 99)
	m := mutexOn(t, rdb, final.WithObserver(final.Observer{Renewed: func(_ int, err error) { renewed <- err }}))
	if err := useMost(t, m); err != nil {
		return err
	}
	hold := lock(t, m, t.Context())
	if err := receive(t, renewed, "no renewal"); err != nil {
		return err
	}
	waiting := startLock(t, mutexOn(t, rdb, forever))
	s.AwaitWaiters(1)
	require.NoError(t, hold.Unlock())
	return receive(t, waiting, "it still waits").err
}

func TestDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.NoError(t, useEverything(t, s, s.User(rights)))
}

func TestHoldCountNeedsAnotherRight(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := mutexOn(t, s.User(rights+" "+questions))
	hold := lock(t, m, t.Context())
	count, err := m.HoldCount(hold.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	s.User(rights)
	_, err = m.HoldCount(hold.Context())
	require.ErrorContains(t, err, "lacks a right")
}

// Each right is needed: without it some call returns a one-line error that names the lock and the
// missing right. The key never stays without a lease, although Redis keeps the writes of a script
// that fails halfway.
func TestMissingRightIsReportedAndLeavesNoPermanentLock(t *testing.T) {
	t.Parallel()
	wants := map[string]string{
		"~lock:{*":          "NOPERM this user has no permissions to access one of the keys",
		"&lock__channel:{*": "can't publish to the channel",
		"+evalsha":          "NOPERM this user has no permissions to run the 'evalsha' command",
		"+eval":             "NOPERM this user has no permissions to run the 'eval' command",
	}
	for _, right := range strings.Fields(rights) {
		if right == "+subscribe" {
			continue // only waiters need it
		}
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			require.NoError(t, s.admin.ScriptFlush(t.Context()).Err())
			err := useMost(t, mutexOn(t, s.User(without(right))))
			want := wants[right]
			if want == "" {
				want = "The user executing the script can't run this command"
			}
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, key)
			require.NotContains(t, err.Error(), "\n")
			require.NotEqual(t, time.Duration(-1), s.admin.PTTL(t.Context(), key).Val(), "it has no lease")
			requireFree(s)
		})
	}
}

// A waiter that may not subscribe waits for the end of the lease, and logs the reason.
func TestWaiterWithoutSubscribeRightGetsTheLockAfterTheLease(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+subscribe", "&lock__channel:{*"} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s, log := start(t), &log{}
			hold := lock(t, s.Mutex(), t.Context())
			waiting := startLock(t, mutexOn(t, s.User(without(right)), log.Option()))
			log.Await(t, "waiting without messages")
			log.Await(t, "NOPERM")
			require.NoError(t, hold.Unlock())
			began := time.Now()
			requireHeld(t, waiting)
			require.Less(t, time.Since(began), 5*lease)
		})
	}
}
