package stage6_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

var errHook = errors.New("the breaker is open")

// failingHook is a user's hook that fails the next commands of a name, and sends
// them all the same if they are to fail late.
type failingHook struct {
	names names
	late  bool

	mu   sync.Mutex
	next map[string]int // name → how many fail
	seen map[string]int
}

func newHook(t *testing.T, late bool) *failingHook {
	return &failingHook{names: scriptNames(t), late: late, next: map[string]int{}, seen: map[string]int{}}
}

// Fail says how many of the next commands of a name fail.
func (h *failingHook) Fail(name string, times int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next[name] = times
}

// Count is how many commands of a name have ended, one way or the other.
func (h *failingHook) Count(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[name]
}

func (h *failingHook) fails(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next[name]--
	return h.next[name] >= 0
}

func (h *failingHook) ended(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[name]++
}

// DialHook changes nothing.
func (h *failingHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook fails some commands.
func (h *failingHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := []string{cmd.Name()}
		if len(cmd.Args()) > 1 {
			second, _ := cmd.Args()[1].(string) // "" if it is no string
			args = append(args, second)
		}
		name := h.names.of(args...)
		defer h.ended(name)
		fails := h.fails(name)
		if fails && !h.late {
			return errHook
		}
		err := next(ctx, cmd)
		if fails {
			return errHook
		}
		return err
	}
}

// ProcessPipelineHook changes nothing: go-redis sends its own greeting so.
func (h *failingHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// hooked is a lock whose client has a failing hook.
func hooked(t *testing.T, s *server, late bool, opts ...final.Option) (*final.Mutex, *failingHook) {
	t.Helper()
	hook, rdb := newHook(t, late), s.Client()
	rdb.AddHook(hook)
	return mutexOn(t, rdb, opts...), hook
}

func TestErrorOfAHookIsPassedOnAndNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, hook := hooked(t, s, false, final.WithWatchdogTimeout(endless))
	hook.Fail("acquire", 2)
	_, err := m.TryLock(t.Context())
	require.ErrorIs(t, err, errHook)
	_, err = m.Lock(t.Context())
	require.ErrorIs(t, err, errHook)
	require.Empty(t, s.admin.Keys(t.Context(), "*").Val())
	require.NoError(t, lock(t, m, t.Context()).Unlock())
}

func TestRenewalThatAHookFailsIsRepeated(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s := start(t)
		m, hook := hooked(t, s, late)
		hold := lock(t, m, t.Context())
		hook.Fail("renew", 2)
		requireSurvives(t, hold, 3*lease/2)
		require.GreaterOrEqual(t, hook.Count("renew"), 3)
		require.NoError(t, hold.Unlock())
	}
}

func TestRenewalsThatAHookAlwaysFailsEndTheHold(t *testing.T) {
	t.Parallel()
	m, hook := hooked(t, start(t), false, final.WithWatchdogTimeout(short))
	hold := lock(t, m, t.Context())
	hook.Fail("renew", 1000)
	requireLost(t, hold)
}

func TestReentryThatAHookFailsLeavesTheOuterHold(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, hook := hooked(t, s, false)
	outer := lock(t, m, t.Context())
	hook.Fail("count", 3) // as often as a command of unknown outcome is sent
	_, err := m.Lock(outer.Context())
	require.ErrorIs(t, err, errHook)
	require.Equal(t, []string{"1"}, s.HoldCounts())
	requireSurvives(t, outer, lease/2)
	require.NoError(t, outer.Unlock())
}

func TestUnlockThatAHookFailsIsAnErrorAndTheLeaseFreesTheLock(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, hook := hooked(t, s, false)
	hold := lock(t, m, t.Context())
	hook.Fail("release", 99)
	require.ErrorIs(t, hold.Unlock(), errHook)
	require.Error(t, hold.Context().Err())
	requireHeld(t, startLock(t, s.Mutex()))
}
