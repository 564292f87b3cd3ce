package failures_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// mutant is a lock with one mistake of design that no single line of a stage
// shows.
type mutant struct {
	name    string
	failure string // that convicts it
	new     func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error)
}

var mutants = []mutant{
	{"asks with GET whether the lock is free, then sets it", "check-then-set", newAsking},
	{"gives the key no lease at all", "crash-before-expire", newEndless},
	{"keeps its value for as long as the object lives", "late-unlock", newFixedValue},
}

// reentrantMutants damage the lock that re-enters and listens.
var reentrantMutants = []struct {
	name    string
	failure string // that convicts it
	wrong   mistake
}{
	{"waits for messages before SUBSCRIBE is acknowledged", "wake-lost", waitsUnacknowledged},
	{"does not try again after subscribing", "wake-lost", triesOnlyOnce},
	{"wakes only those who wait at that moment", "wake-early", wakesOnlySleepers},
	{"ends the shared subscription when one waiter leaves", "waiter-leaves", leaverEndsAll},
	{"does not pass a wake-up on", "wake-eaten", keepsWakeUp},
	{"takes no notice of a reconnect", "pubsub-cut", forgetsReconnects},
	{"waits for messages only", "expiry-wakes", onlyMessages},
	{"serves the last waiter first", "fair-in-process", lastComeFirst},
	{"listens, and keeps asking all the same", "idle-waiters", keepsAsking},
	{"publishes at every unlock", "partial-unlock-wakes", publishesAlways},
	{"publishes nothing", "unlock-wakes", publishesNothing},
	{"frees the lock at the first unlock", "inner-unlock-frees", innerUnlockFrees},
	{"frees the outer hold when an inner acquire fails", "inner-lock-fails", takesBackTooMuch},
	{"counts in its own memory only", "reentry-after-loss", countsLocally},
	{"adds to the count instead of setting it", "retry-count-two", countsUp},
	{"takes a lock that is gone for unlocked", "hold-released-twice", vanishedIsUnlocked},
	{"takes a lock that is gone for unlocked", "loss-hidden-at-unlock", vanishedIsUnlocked},
	{"takes the whole process for one owner", "second-goroutine-reenters", oneOwnerForAll},
	{"publishes nothing when it is forced", "forced-unlock", forcesSilently},
}

func TestEachReentrantMutantIsConvicted(t *testing.T) {
	for _, m := range reentrantMutants {
		t.Run(m.name+": "+m.failure, func(t *testing.T) {
			f, ok := failures.Find(m.failure)
			require.True(t, ok)
			require.Equal(t, failures.Broken, run(t, f, reentrantSubject(m.wrong)).Outcome)
		})
	}
}

func TestEachMonitorOfWaitingConvictsAMutant(t *testing.T) {
	for monitor, trial := range map[oracle.Monitor]struct {
		failure string
		wrong   mistake
	}{
		oracle.LostWakeUp:   {"unlock-wakes", publishesNothing},
		oracle.BoundedWait:  {"fair-in-process", lastComeFirst},
		oracle.HoldCount:    {"retry-count-two", countsUp},
		oracle.CommandCount: {"partial-unlock-wakes", publishesAlways},
	} {
		t.Run(string(monitor), func(t *testing.T) {
			f, ok := failures.Find(trial.failure)
			require.True(t, ok)
			require.True(t, oracle.Convicts(run(t, f, reentrantSubject(trial.wrong)).Findings, monitor))
			require.False(t, oracle.Convicts(run(t, f, reentrantSubject(noMistake)).Findings, monitor))
		})
	}
}

// watchdogMutants damage the lock with a watchdog.
var watchdogMutants = []struct {
	name    string
	failure string // that convicts it
	wrong   flaw
}{
	{"renews whatever it finds under the key", "renew-foreign", renewsBlindly},
	{"renews less often than once in a lease", "work-outlives-ttl", renewsTooLate},
	{"gives PEXPIRE seconds", "work-outlives-ttl", renewsSeconds},
	{"gives EX milliseconds", "crash-before-expire", leasesForHours},
	{"sends renewals without a timeout", "unlock-while-renewal-hangs", renewsWithoutEnd},
	{"ends its watchdog at the first error", "renew-blip", diesOfAnError},
	{"takes a renewal that found nothing for a success", "key-gone", ignoresAnswer},
	{"does not count its lease itself", "renew-partition", trustsTheNetwork},
	{"does not count its lease itself", "pool-starved", trustsTheNetwork},
	{"does not count its lease itself", "work-outlives-fixed-lease", trustsTheNetwork},
	{"counts its lease from the reply", "deadline-from-reply", countsFromReply},
	{"starts its watchdog after Lock has returned", "unlock-at-once", startsLate},
	{"does not wait for a renewal that is under way", "dog-unlock-race", stopsWithoutJoin},
	{"stops its watchdog only when the key is deleted", "unlock-error-dog-lives", deletesFirst},
	{"stops its watchdog for good", "second-hold-renewed", stopsForGood},
	{"renews for ever", "renewed-for-ever", knowsNoLimit},
	{"renews for ever", "hold-dropped", knowsNoLimit},
	{"takes a plain counter for its token", "token-after-flush", countsTokens},
	{"takes a plain counter for its token", "token-after-failover", countsTokens},
	{"takes the token when it writes", "process-pause-fenced", tokenAtWrite},
	{"takes the token when it writes", "clock-jump-fenced", tokenAtWrite},
}

func TestEachWatchdogMutantIsConvicted(t *testing.T) {
	for _, m := range watchdogMutants {
		t.Run(m.name+": "+m.failure, func(t *testing.T) {
			f, ok := failures.Find(m.failure)
			require.True(t, ok)
			require.Equal(t, failures.Broken, run(t, f, watchedSubject(m.wrong)).Outcome)
		})
	}
}

func TestEachMonitorOfTheWatchdogConvictsAMutant(t *testing.T) {
	for monitor, trial := range map[oracle.Monitor]struct {
		failure string
		wrong   flaw
	}{
		oracle.WrongExtend:  {"renew-foreign", renewsBlindly},
		oracle.Watchdog:     {"renew-blip", diesOfAnError},
		oracle.RenewalCount: {"dog-per-reentry", watchesTwice},
	} {
		t.Run(string(monitor), func(t *testing.T) {
			f, ok := failures.Find(trial.failure)
			require.True(t, ok)
			f.Needs = nil // a lock that does not re-enter is acquitted: it asks once more in vain
			require.True(t, oracle.Convicts(run(t, f, watchedSubject(trial.wrong)).Findings, monitor))
			require.False(t, oracle.Convicts(run(t, f, watchedSubject(flawless)).Findings, monitor))
		})
	}
}

// One watchdog for each re-entry needs a lock that re-enters. Without the flaw
// that is the re-entrant lock.
func TestWatchdogForEachReentryIsConvicted(t *testing.T) {
	f, ok := failures.Find("dog-per-reentry")
	require.True(t, ok)
	subject := watchedSubject(watchesTwice)
	subject.Has = append(subject.Has, failures.Reentry)
	require.Equal(t, failures.Broken, run(t, f, subject).Outcome)
	require.Equal(t, failures.Safe, run(t, f, reentrantSubject(noMistake)).Outcome)
}

func TestEachMutantIsConvicted(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			f, ok := failures.Find(m.failure)
			require.True(t, ok)
			require.Equal(t, failures.Broken, outcome(t, f, m.new))
			require.Equal(t, failures.Safe, outcome(t, f, newHealthyLocker), "the lock without the mistake")
		})
	}
}

func outcome(t *testing.T, f failures.Failure, create world.New) failures.Outcome {
	t.Helper()
	return run(t, f, failures.Subject{Name: "mutant", New: create}).Outcome
}

func run(t *testing.T, f failures.Failure, subject failures.Subject) failures.Verdict {
	t.Helper()
	scripts, err := failures.Rehearse(t, subject)
	require.NoError(t, err)
	v := failures.Run(t, f, subject, scripts)
	require.NoError(t, v.Err)
	return v
}

// healthy is a correct lock of stage 4's kind, which mutants damage.
type healthy struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
	value string
}

func newHealthy(rdb redis.UniversalClient, name string, lease time.Duration) *healthy {
	return &healthy{rdb: rdb, key: "lock:" + name, lease: lease}
}

func newHealthyLocker(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return newHealthy(rdb, name, lease), nil
}

func (h *healthy) take(ctx context.Context, value string) (bool, error) {
	err := h.rdb.Do(ctx, "SET", h.key, value, "NX", "PX", h.lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err == nil {
		h.value = value
	}
	return err == nil, err
}

func (h *healthy) TryLock(ctx context.Context) (bool, error) { return h.take(ctx, uuid.NewString()) }

func (h *healthy) Lock(ctx context.Context) error { return poll(ctx, h.TryLock) }

var errNotHeld = errors.New("mutant: not held")

var freeScript = redis.NewScript(`-- free
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`)

func (h *healthy) Unlock(ctx context.Context) error {
	n, err := freeScript.Run(ctx, h.rdb, []string{h.key}, h.value).Int()
	if err == nil && n == 0 {
		return errNotHeld
	}
	return err
}

func poll(ctx context.Context, try func(context.Context) (bool, error)) error {
	for {
		held, err := try(ctx)
		if err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestHealthyLockIsAcquitted is what makes the mutants' convictions count.
func TestHealthyLockIsAcquitted(t *testing.T) {
	subject := failures.Subject{Name: "healthy", New: newHealthyLocker, Has: []failures.Feature{failures.Scripts}}
	failures.Check(t, subject, failures.Stage(4))
}

type asking struct{ *healthy }

func newAsking(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &asking{newHealthy(rdb, name, lease)}, nil
}

func (a *asking) TryLock(ctx context.Context) (bool, error) {
	err := a.rdb.Get(ctx, a.key).Err()
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, redis.Nil) {
		return false, err
	}
	a.value = uuid.NewString()
	return true, a.rdb.Do(ctx, "SET", a.key, a.value, "PX", a.lease.Milliseconds()).Err()
}

func (a *asking) Lock(ctx context.Context) error { return poll(ctx, a.TryLock) }

type endless struct{ *healthy }

func newEndless(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &endless{newHealthy(rdb, name, lease)}, nil
}

func (e *endless) TryLock(ctx context.Context) (bool, error) {
	e.value = uuid.NewString()
	err := e.rdb.Do(ctx, "SET", e.key, e.value, "NX").Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (e *endless) Lock(ctx context.Context) error { return poll(ctx, e.TryLock) }

type fixedValue struct {
	*healthy
	mine string
}

func newFixedValue(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &fixedValue{newHealthy(rdb, name, lease), uuid.NewString()}, nil
}

func (f *fixedValue) TryLock(ctx context.Context) (bool, error) { return f.take(ctx, f.mine) }

func (f *fixedValue) Lock(ctx context.Context) error { return poll(ctx, f.TryLock) }
