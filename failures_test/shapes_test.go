package failures_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// shaped is a lock like that of stage 4 which has its owner elsewhere in Redis.
type shaped struct {
	acquire, release string // scripts: KEYS are the lock's key and a queue, ARGV the owner, the lease and the time
	owner            func() string
}

type shapedLock struct {
	shaped
	rdb   redis.UniversalClient
	keys  []string
	lease time.Duration
	held  string
}

var errNotHeld = errors.New("the lock is not held")

func (l *shapedLock) run(ctx context.Context, script, owner string) (bool, error) {
	return redis.NewScript(script).Run(ctx, l.rdb, l.keys, owner, l.lease.Milliseconds(), time.Now().UnixMilli()).Bool()
}

func (l *shapedLock) TryLock(ctx context.Context) (bool, error) {
	owner := l.owner()
	held, err := l.run(ctx, l.acquire, owner)
	if held {
		l.held = owner
	}
	return held, err
}

func (l *shapedLock) Lock(ctx context.Context) error {
	for {
		if held, err := l.TryLock(ctx); err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (l *shapedLock) Unlock(ctx context.Context) error {
	if l.held == "" {
		return errNotHeld
	}
	freed, err := l.run(ctx, l.release, l.held)
	if err != nil {
		return err
	}
	if l.held = ""; !freed {
		return errNotHeld
	}
	return nil
}

// subject returns the lock with its auxiliary keys, as grade finds them.
func (s shaped) subject(t *testing.T) failures.Subject {
	subject := failures.Subject{Name: "shaped", Has: []catalogue.Feature{catalogue.Scripts}}
	subject.New = adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &shapedLock{shaped: s, rdb: rdb, keys: []string{"lock:" + name, "queue:" + name}, lease: lease}, nil
	})
	used, scripts, err := world.Discover(t, subject.Config())
	require.NoError(t, err)
	subject.Scripts = scripts
	return subject.Ignoring(failures.AuxKeys(used))
}

// unlessTaken is a script that writes a hash.
func unlessTaken(fields string) string {
	return `if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
redis.call("HSET", KEYS[1], ` + fields + `)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1`
}

const (
	refusedAreCounted = `if redis.call("EXISTS", KEYS[1]) == 1 then
	redis.call("HINCRBY", KEYS[1], "refused", 1)
	return 0
end
` // before unlessTaken
	freesByValue = `if redis.call("HGET", KEYS[1], "owner") ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`
	freesByField = `if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call("DEL", KEYS[1])`
	queues = `redis.call("ZADD", KEYS[2], ARGV[3], ARGV[1])
redis.call("PEXPIRE", KEYS[2], ARGV[2])
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end
redis.call("ZREM", KEYS[2], ARGV[1])
return 0`
	freesTurn = `redis.call("ZREM", KEYS[2], ARGV[1])
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`
)

// A counter for each owner, which is made and deleted with the lock.
const (
	counts = `if not redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 0 end
redis.call("SET", KEYS[1] .. ":count:" .. ARGV[1], 1, "PX", ARGV[2])
return 1`
	freesCount = `redis.call("DEL", KEYS[1] .. ":count:" .. ARGV[1])
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`
)

// number returns an owner that does not look random: a few digits.
func number() string { return fmt.Sprint(1e9 + rand.IntN(8e9)) }

func TestLocksOfOtherShapesHaveTheOutcomesOfStage4(t *testing.T) {
	for name, lock := range map[string]shaped{
		"owner and time in values": {unlessTaken(`"owner", ARGV[1], "since", ARGV[3]`), freesByValue, uuid.NewString},
		"owner and port in values": {unlessTaken(`"owner", ARGV[1], "port", 6379`), freesByValue, uuid.NewString},
		"owner in a field":         {unlessTaken(`ARGV[1], 1`), freesByField, uuid.NewString},
		"time of the owner":        {unlessTaken(`ARGV[1], ARGV[3]`), freesByField, number},
		"numbers only":             {unlessTaken(`"owner", ARGV[1], "since", ARGV[3], "pid", 17`), freesByValue, number},
		"refused clients count":    {refusedAreCounted + unlessTaken(`"owner", ARGV[1], "since", ARGV[3]`), freesByValue, number},
		"a queue next to the key":  {queues, freesTurn, uuid.NewString},
		"a counter of each owner":  {counts, freesCount, uuid.NewString},
		"a counter of each number": {counts, freesCount, number},
	} {
		t.Run(name, func(t *testing.T) {
			subject := lock.subject(t)
			for _, f := range catalogue.OfLocks() {
				want := stages.MustFind("4").Expect(f)
				if failures.Applies(f, subject) {
					v := failures.Run(t, f, subject)
					require.Equal(t, want.String(), v.Outcome.String(), "%s: %s", f.ID, v.Sentence())
				}
			}
		})
	}
}

func TestMistakesOfLocksOfOtherShapesAreFound(t *testing.T) {
	const fields = `"owner", ARGV[1], "since", ARGV[3]`
	_, overwrites, _ := strings.Cut(unlessTaken(fields), "\n")
	for name, c := range map[string]struct {
		lock    shaped
		failure string
		says    string
	}{
		"Unlock compares no owner": {
			shaped{unlessTaken(fields), `return redis.call("DEL", KEYS[1])`, uuid.NewString},
			"delete-foreign", "wrong delete: A's EVALSHA removes the lock of B (B1)",
		},
		"a random owner is overwritten": {
			shaped{overwrites, freesByValue, uuid.NewString},
			"connections-given-back", "wrong delete: B's EVALSHA overwrites the lock of A (A1)",
		},
		"a number is overwritten": {
			shaped{overwrites, freesByValue, number},
			"connections-given-back", "wrong delete: B's EVALSHA overwrites the lock of A (A1)",
		},
		"all holds write one value": {
			shaped{unlessTaken(`"owner", ARGV[1], "port", 6379`), freesByValue, func() string { return "shop" }},
			"new-values", "repeated value: two holds of A wrote the same value: make a new one in each attempt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := catalogue.Find(c.failure)
			v := failures.Run(t, f, c.lock.subject(t))
			require.Equal(t, failures.Broken, v.Outcome)
			require.Equal(t, c.says, v.Sentence())
		})
	}
}

// A lock of INCR has no owner. But a refused client neither takes the key nor its lease.
func TestRefusedINCRTakesNothing(t *testing.T) {
	const counts = `local n = redis.call("INCR", KEYS[1])
if n > 1 then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`
	subject := shaped{counts, `return redis.call("DEL", KEYS[1])`, uuid.NewString}.subject(t)
	for id, want := range map[string]failures.Outcome{
		"second-client": failures.Safe, "try-while-holding": failures.Safe, "last-millisecond": failures.Safe, "double-unlock": failures.Safe,
		"crash-while-holding": failures.Safe, "lease-between-seconds": failures.Safe, "connections-given-back": failures.Safe,
		"delete-foreign": failures.Broken, "new-values": failures.Broken, "retry-nx-false": failures.Broken,
	} {
		f, _ := catalogue.Find(id)
		v := failures.Run(t, f, subject)
		require.Equal(t, want.String(), v.Outcome.String(), "%s: %s", id, v.Sentence())
	}
}

// A number in Redis counts holds only if the lock is re-entrant.
func TestOnlyAReentrantLockCountsItsHolds(t *testing.T) {
	const port = `redis.call("HSET", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1`
	f, _ := catalogue.Find("double-unlock")
	f.Script = func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Lock()
	}
	subject := shaped{port, freesByField, func() string { return "0123456789abcdef" }}.subject(t)
	for _, isReentrant := range []bool{false, true} {
		if isReentrant {
			subject.Has = append(subject.Has, catalogue.Reentry)
		}
		require.Equal(t, isReentrant, oracle.Violates(failures.Run(t, f, subject).Findings, oracle.HoldCount))
	}
}
