//go:build live

package stage6_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// rights are the ACL rules that a user of locks needs, with any lock names: where the keys and channels are,
// and the commands.
const (
	places   = "~lock:{* &lock__channel:{*"
	commands = "+evalsha +eval +hexists +hlen +hset +pexpire +pttl +get +set +time +del +publish +subscribe"
	rights   = places + " " + commands
)

// Additional rules: with toRecognise a hash of another kind is no lock, and toCount is for HoldCount. IsLocked
// and RemainingTTL need none.
const (
	toRecognise = "+hgetall"
	toCount     = "+hget"
)

// refusal is in the lock's errors for a missing right. The text of Redis differs between versions.
const refusal = "the Redis user lacks a right"

// without returns the rights without one of them.
func without(right string) string {
	left := slices.DeleteFunc(strings.Fields(rights), func(word string) bool { return word == right })
	return strings.Join(left, " ")
}

// User returns a client of a user that has exactly those rights.
func (s *server) User(rights string) *redis.Client {
	s.t.Helper()
	rules := []any{"ACL", "SETUSER", "locker", "reset", "resetchannels", "on", ">secret"} // in Redis 6 a new user has all channels
	for _, right := range strings.Fields(rights) {
		rules = append(rules, right)
	}
	require.NoError(s.t, s.admin.Do(s.t.Context(), rules...).Err())
	return s.Client(func(o *redis.Options) { o.Username, o.Password = "locker", "secret" })
}

// Scripts returns how many scripts the server was sent.
func (s *server) Scripts() (count int) {
	s.t.Helper()
	stats, err := s.admin.Info(s.t.Context(), "commandstats").Result()
	require.NoError(s.t, err)
	for _, found := range regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`).FindAllStringSubmatch(stats, -1) {
		calls, err := strconv.Atoi(found[1])
		require.NoError(s.t, err)
		count += calls
	}
	return count
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
func useEverything(t *testing.T, s *server, rdb *redis.Client, layout ...final.Option) error {
	renewed := make(chan error, 99)
	m := mutexOn(t, rdb, append(layout, final.WithObserver(final.Observer{Renewed: func(_ int, err error) { renewed <- err }}))...)
	if err := useMost(t, m); err != nil {
		return err
	}
	hold := lock(t, m, t.Context())
	if err := receive(t, renewed, "no renewal"); err != nil {
		return err
	}
	waiting := startLock(t, mutexOn(t, rdb, append(layout, forever)...))
	eventually(t, func() bool { return len(s.admin.PubSubChannels(t.Context(), "*").Val()) == 1 }, "the waiter does not subscribe")
	require.NoError(t, hold.Unlock())
	return receive(t, waiting, "it still waits").err
}

func TestDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../../docs/final-lock.md")
	require.NoError(t, err)
	require.Contains(t, string(document), rights)
	for places, layout := range map[string][]final.Option{
		places:                                 nil,
		"~shop:lock:{* &shop:lock__channel:{*": {final.WithPrefix("shop:lock:")},
		"~order:* ~{order:* &redisson_lock__channel:{order:*": {final.WithRedissonNames()},
	} {
		t.Run(places, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			require.NoError(t, useEverything(t, s, s.User(places+" "+commands), layout...))
		})
	}
}

// The key disappears without a message.
func TestDocumentedRightsAreEnoughToLookAtALock(t *testing.T) {
	t.Parallel()
	s := start(t)
	rdb := s.User(rights)
	lock(t, mutexOn(t, rdb, forever), t.Context())
	waiting := startLock(t, mutexOn(t, rdb))
	eventually(t, func() bool { return s.Scripts() == 3 }, "the waiter does not try, subscribe and try again")
	require.NoError(t, s.admin.Del(t.Context(), key).Err())
	requireHeld(t, waiting)
}

// The script runs only where very many acquires had an unknown outcome.
func TestDocumentedRightsAreEnoughToCleanUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	rdb := s.User(rights)
	lock(t, mutexOn(t, rdb), t.Context())
	script, err := os.ReadFile("../../../stage6_reentrant_pubsub/cleanup.lua")
	require.NoError(t, err)
	owner := s.admin.HKeys(t.Context(), key).Val()[0]
	freed, err := rdb.Eval(t.Context(), string(script), []string{key, "lock:{free}"}, channel, owner, channel, owner).Int64Slice()
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0}, freed)
}

func TestHoldCountNeedsAnotherRight(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := mutexOn(t, s.User(rights+" "+toCount))
	hold := lock(t, m, t.Context())
	count, err := m.HoldCount(hold.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	s.User(rights)
	_, err = m.HoldCount(hold.Context())
	require.ErrorContains(t, err, refusal)
}

// Without it a hash of one field, whatever it means, counts as a lock that is held, and ForceUnlock deletes it.
func TestHashOfAnotherKindIsRecognisedWithTheRecommendedRight(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.NoError(t, s.admin.HSet(t.Context(), key, "city", "Rome").Err())
	m := mutexOn(t, s.User(rights+" "+toRecognise))
	_, err := m.TryLock(t.Context())
	require.ErrorContains(t, err, "the key holds no lock of this kind")
	_, err = m.ForceUnlock(t.Context())
	require.ErrorContains(t, err, "the key holds no lock of this kind")
	require.Equal(t, "Rome", s.admin.HGet(t.Context(), key, "city").Val())

	m = mutexOn(t, s.User(rights))
	_, err = m.TryLock(t.Context())
	require.ErrorIs(t, err, final.ErrLocked)
	freed, err := m.ForceUnlock(t.Context())
	require.NoError(t, err)
	require.True(t, freed)
}

// Each right is needed: without it some call returns a one-line error that names the lock and says that a right
// is missing. The key never stays without a lease, although Redis keeps the writes of a script that fails halfway.
func TestMissingRightIsReportedAndLeavesNoPermanentLock(t *testing.T) {
	t.Parallel()
	for _, right := range strings.Fields(rights) {
		if right == "+subscribe" {
			continue // only waiters need it
		}
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			require.NoError(t, s.admin.ScriptFlush(t.Context()).Err())
			err := useMost(t, mutexOn(t, s.User(without(right))))
			require.ErrorContains(t, err, refusal)
			require.ErrorContains(t, err, key)
			require.NotContains(t, err.Error(), "\n")
			require.NotEqual(t, time.Duration(-1), s.admin.PTTL(t.Context(), key).Val(), "it has no lease")
			requireFree(s)
		})
	}
}

// Redis has refused a Lock for good: it sends no other script, and no clean-up.
func TestRefusedLockSendsOneScript(t *testing.T) {
	t.Parallel()
	for want, refuse := range map[string]func(s *server) *redis.Client{
		refusal: func(s *server) *redis.Client { return s.User(without("+hset")) },
		"OOM": func(s *server) *redis.Client {
			s.Set("maxmemory", "1")
			return s.Client()
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			_, err := mutexOn(t, refuse(s)).Lock(t.Context())
			require.ErrorContains(t, err, want)
			time.Sleep(lease / 6) // a clean-up would begin at once and try several times
			require.Equal(t, 1, s.Scripts())
		})
	}
}

// Unlock does not try again where Redis refuses it for good. Without the right to publish the key is gone.
func TestRefusedUnlockReturnsAtOnce(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+del", "+publish", "&lock__channel:{*"} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			hold := lock(t, mutexOn(t, s.User(without(right)), final.WithWatchdogTimeout(endless)), t.Context())
			sent := s.Scripts()
			require.ErrorContains(t, hold.Unlock(), refusal)
			require.Equal(t, sent+1, s.Scripts())
			require.Equal(t, right == "+del", s.admin.Exists(t.Context(), key).Val() == 1)
		})
	}
}

// A waiter that may not subscribe looks at the lock every sixth of a lease, and logs the reason.
func TestWaiterWithoutSubscribeRightLooksAtTheLock(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+subscribe", "&lock__channel:{*"} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s, log := start(t), &log{}
			hold := lock(t, s.Mutex(), t.Context())
			waiting := startLock(t, mutexOn(t, s.User(without(right)), log.Option()))
			log.Await(t, "waiting without messages")
			log.Await(t, "NOPERM") // outside a script each version says this
			require.NoError(t, hold.Unlock())
			began := time.Now()
			requireHeld(t, waiting)
			require.Less(t, time.Since(began), lease/2)
		})
	}
}
