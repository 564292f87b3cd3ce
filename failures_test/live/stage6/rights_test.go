package stage6_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// rights are all that a user needs for locks, whatever their names.
const rights = "~lock:{* &lock__channel:{* +evalsha +eval " +
	"+exists +hexists +hlen +hset +pexpire +pttl +get +set +time +del +publish +subscribe"

// questions are what he needs besides to ask how often a lock is held. IsLocked and
// RemainingTTL need nothing more.
const questions = "+hget"

// User is a client of a user that has those rights and no others.
func (s *server) User(rights string) *redis.Client {
	s.t.Helper()
	rules := append([]any{"ACL", "SETUSER", "locker", "reset", "on", ">secret"}, words(rights)...)
	require.NoError(s.t, s.admin.Do(s.t.Context(), rules...).Err())
	return s.Client(func(o *redis.Options) { o.Username, o.Password = "locker", "secret" })
}

func words(rights string) []any {
	var all []any
	for _, word := range strings.Fields(rights) {
		all = append(all, word)
	}
	return all
}

// useEverything does all that one can do with a lock: with a lease that is renewed,
// a re-entry, and a waiter who has to hear of the unlock.
func useEverything(t *testing.T, s *server, rdb *redis.Client) error {
	renewed := make(chan error, 99)
	m := mutexOn(t, rdb, final.WithObserver(final.Observer{Renewed: func(_ int, err error) { renewed <- err }}))
	outer, err := m.TryLock(t.Context())
	if err != nil {
		return err
	}
	inner, err := m.Lock(outer.Context())
	if err != nil {
		return err
	}
	select {
	case err := <-renewed:
		if err != nil {
			return err
		}
	case <-time.After(soon):
		return errors.New("no renewal")
	}
	if err := inner.Unlock(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	other := mutexOn(t, rdb, final.WithWatchdogTimeout(endless))
	waiting := make(chan outcome, 1)
	go func() {
		hold, err := other.Lock(ctx)
		waiting <- outcome{hold, err}
	}()
	s.AwaitWaiters(1)
	if err := outer.Unlock(); err != nil {
		return err
	}
	next := <-waiting
	if next.err != nil {
		return next.err
	}
	if _, err := m.ForceUnlock(t.Context()); err != nil {
		return err
	}
	if _, err := m.IsLocked(t.Context()); err != nil {
		return err
	}
	_, err = m.RemainingTTL(t.Context())
	return err
}

func TestUserWithExactlyTheRightsALockNeedsCanDoEverything(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.NoError(t, useEverything(t, s, s.User(rights)))
}

func TestHoldCountNeedsOneRightMore(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := mutexOn(t, s.User(rights+" "+questions))
	count, err := m.HoldCount(lock(t, m, t.Context()).Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	s = start(t)
	m = mutexOn(t, s.User(rights))
	_, err = m.HoldCount(lock(t, m, t.Context()).Context())
	require.ErrorContains(t, err, "'hget'")
}

// without is the rights but one.
func without(right string) string {
	left := slices.DeleteFunc(strings.Fields(rights), func(word string) bool { return word == right })
	return strings.Join(left, " ")
}

// useMost locks, re-enters, unlocks, refuses and forces: every script on a Redis
// that knows none of them.
func useMost(t *testing.T, s *server, rdb *redis.Client) error {
	require.NoError(t, s.admin.ScriptFlush(t.Context()).Err())
	m := mutexOn(t, rdb)
	outer, err := m.TryLock(t.Context())
	if err != nil {
		return err
	}
	if _, err := m.TryLock(t.Context()); !errors.Is(err, final.ErrLocked) {
		return err
	}
	inner, err := m.TryLock(outer.Context())
	if err != nil {
		return err
	}
	if err := errors.Join(inner.Unlock(), outer.Unlock()); err != nil {
		return err
	}
	_, err = m.ForceUnlock(t.Context())
	return err
}

// Each right is needed: without it something is refused, in one line that names
// the lock and says that it is a matter of rights.
func TestUserThatLacksARightIsToldInOneLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.NoError(t, useMost(t, s, s.User(rights)))
	const inScript = "The user executing the script can't run this command"
	wants := map[string]string{
		"~lock:{*":          "NOPERM this user has no permissions to access one of the keys",
		"&lock__channel:{*": "can't publish to the channel",
		"+evalsha":          "NOPERM this user has no permissions to run the 'evalsha' command",
		"+eval":             "NOPERM this user has no permissions to run the 'eval' command",
		"+subscribe":        "", // only waiters need it
	}
	for _, right := range strings.Fields(rights) {
		want, special := wants[right]
		if !special {
			want = inScript
		}
		if want == "" {
			continue
		}
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			err := useMost(t, s, s.User(without(right)))
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, key)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// Without the right to listen a waiter has the end of the lease to go by, and the
// log to say why.
func TestWaiterThatMayNotSubscribeGetsTheLockWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+subscribe", "&lock__channel:{*"} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s, log := start(t), &log{}
			hold := lock(t, s.Mutex(), t.Context())
			waiting := startLock(t, mutexOn(t, s.User(without(right)), final.WithLogger(log.Logger())))
			log.Await(t, "waiting without messages")
			log.Await(t, "NOPERM")
			require.NoError(t, hold.Unlock())
			began := time.Now()
			requireHeld(t, waiting)
			require.Less(t, time.Since(began), 5*lease)
		})
	}
}
