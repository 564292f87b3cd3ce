package mutants_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// counting is a re-entrant lock whose key is a string: its count is in a key of its own.
type counting struct {
	plain
	adds  bool // a repeated acquire counts once more
	times int
	lies  int // by how much HoldCount is wrong
}

var (
	enterScript = redis.NewScript(`-- enter
local owner = redis.call("GET", KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
if ARGV[3] == "0" then redis.call("INCR", KEYS[2]) else redis.call("SET", KEYS[2], ARGV[3]) end
return 1`)
	leaveScript = redis.NewScript(`-- leave
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call("DECR", KEYS[2]) < 1 then redis.call("DEL", KEYS[1], KEYS[2]) end
return 1`)
)

func countingSubject(adds bool, lies int) failures.Subject {
	return failures.Subject{
		Name: "counting", Has: []failures.Feature{failures.Scripts, failures.Reentry},
		Ignore: func(key string) bool { return strings.HasSuffix(key, ":count") },
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			p := plain{rdb: rdb, key: "lock:" + name, lease: lease, value: uuid.NewString()}
			return &counting{plain: p, adds: adds, lies: lies}, nil
		},
	}
}

func (c *counting) TryLock(ctx context.Context) (bool, error) {
	count := c.times + 1
	if c.adds {
		count = 0
	}
	keys := []string{c.key, c.key + ":count"}
	held, err := enterScript.Run(ctx, c.rdb, keys, c.value, c.lease.Milliseconds(), count).Bool()
	if held {
		c.times++
	}
	return held, err
}

func (c *counting) Lock(ctx context.Context) error { return poll(ctx, c.TryLock) }

func (c *counting) Unlock(ctx context.Context) error {
	if c.times == 0 {
		return errNotHeld
	}
	c.times--
	held, err := leaveScript.Run(ctx, c.rdb, []string{c.key, c.key + ":count"}, c.value).Bool()
	if err == nil && !held {
		return errNotHeld
	}
	return err
}

func (c *counting) HoldCount(context.Context) (int, error) { return c.times + c.lies, nil }

// tally is a re-entrant lock whose count is in the value, behind the owner.
type tally struct {
	plain
	times   int
	forgets bool // the first Unlock frees it
}

var (
	moreScript = redis.NewScript(`-- more
local value, count = redis.call("GET", KEYS[1]), 0
if value then
	local owner, times = string.match(value, "^(.*):(%d+)$")
	if owner ~= ARGV[1] then return 0 end
	count = tonumber(times)
end
redis.call("SET", KEYS[1], ARGV[1] .. ":" .. count + 1, "PX", ARGV[2])
return 1`)
	lessScript = redis.NewScript(`-- less
local owner, times = string.match(redis.call("GET", KEYS[1]) or "", "^(.*):(%d+)$")
if owner ~= ARGV[1] then return 0 end
if tonumber(times) <= tonumber(ARGV[2]) then return redis.call("DEL", KEYS[1]) end
redis.call("SET", KEYS[1], owner .. ":" .. times - 1, "KEEPTTL")
return 1`)
)

func tallySubject(forgets bool) failures.Subject {
	return failures.Subject{
		Name: "tally", Has: []failures.Feature{failures.Scripts, failures.Reentry},
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			p := plain{rdb: rdb, key: "lock:" + name, lease: lease, value: uuid.NewString()}
			return &tally{plain: p, forgets: forgets}, nil
		},
	}
}

func (l *tally) TryLock(ctx context.Context) (bool, error) {
	held, err := moreScript.Run(ctx, l.rdb, []string{l.key}, l.value, l.lease.Milliseconds()).Bool()
	if held {
		l.times++
	}
	return held, err
}

func (l *tally) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l *tally) Unlock(ctx context.Context) error {
	if l.times == 0 {
		return errNotHeld
	}
	l.times--
	last := 1
	if l.forgets {
		last = 2
	}
	held, err := lessScript.Run(ctx, l.rdb, []string{l.key}, l.value, last).Bool()
	if err == nil && !held {
		return errNotHeld
	}
	return err
}

// crowd is a lock whose waiters listen each for itself, in no order.
type crowd struct {
	plain
	channel string
	deaf    bool // nobody publishes
}

func crowdSubject(deaf bool) failures.Subject {
	return failures.Subject{
		Name: "crowd", Has: []failures.Feature{failures.Scripts, failures.PubSub},
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &crowd{plain{rdb: rdb, key: "lock:" + name, lease: lease}, "freed:" + name, deaf}, nil
		},
	}
}

func (c *crowd) Lock(ctx context.Context) error {
	if held, err := c.TryLock(ctx); held || err != nil {
		return err
	}
	heard := c.rdb.Subscribe(context.WithoutCancel(ctx), c.channel)
	defer heard.Close()
	messages := heard.ChannelWithSubscriptions()
	timer := time.NewTimer(c.lease)
	defer timer.Stop()
	for {
		select {
		case <-messages:
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if held, err := c.TryLock(ctx); held || err != nil {
			return err
		}
	}
}

func (c *crowd) Unlock(ctx context.Context) error {
	err := c.plain.Unlock(ctx)
	if err == nil && !c.deaf {
		err = c.rdb.Publish(ctx, c.channel, "").Err()
	}
	return err
}

// dated is a lock whose lease is in its value, as a date. Its key stays for longer, and who finds
// that the date is over takes it.
type dated struct {
	plain
	inSteps bool // asking for the date and taking the key are two commands
	inWhole bool // the time of day has whole seconds
}

var takeOverScript = redis.NewScript(`-- take
local value = redis.call("GET", KEYS[1])
if value and string.match(value, "%d+$") > ARGV[2] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[3])
return 1`)

func datedSubject(inSteps, inWhole bool) failures.Subject {
	return failures.Subject{
		Name: "dated", Has: []failures.Feature{failures.Scripts},
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &dated{plain{rdb: rdb, key: "lock:" + name, lease: lease}, inSteps, inWhole}, nil
		},
	}
}

func (l *dated) TryLock(ctx context.Context) (held bool, err error) {
	now := time.Now()
	if l.inWhole {
		now = now.Truncate(time.Second)
	}
	value, at := fmt.Sprintf("%s until %d", uuid.NewString(), now.Add(l.lease).UnixMilli()), fmt.Sprint(now.UnixMilli())
	if l.inSteps {
		if held, err = l.rdb.SetNX(ctx, l.key, value, 2*l.lease).Result(); err == nil && !held {
			_, until, _ := strings.Cut(l.rdb.Get(ctx, l.key).Val(), " until ")
			if held = until <= at; held {
				err = l.rdb.Set(ctx, l.key, value, 2*l.lease).Err()
			}
		}
	} else {
		held, err = takeOverScript.Run(ctx, l.rdb, []string{l.key}, value, at, 2*l.lease.Milliseconds()).Bool()
	}
	if held {
		l.value = value
	}
	return held, err
}

func (l *dated) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

// turned is a lock that lets one goroutine of its process at a time ask Redis and hold.
type turned struct {
	*plain
	turn  chan struct{} // has something in it while somebody holds or asks
	keeps bool          // a hold that was lost keeps the turn
}

func turnSubject(keeps bool) failures.Subject {
	return failures.Subject{Name: "turned", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &turned{&plain{rdb: rdb, key: name, lease: lease}, make(chan struct{}, 1), keeps}, nil
	}}
}

func (l *turned) Lock(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := l.plain.Lock(ctx)
	if err != nil {
		<-l.turn
	}
	return err
}

func (l *turned) Unlock(ctx context.Context) error {
	err := l.plain.Unlock(ctx)
	if err == nil || !l.keeps {
		select {
		case <-l.turn:
		default: // it had none
		}
	}
	return err
}

// handing is a lock whose holder hands its key to the next waiter of its process.
type handing struct {
	*plain
	turn    chan struct{} // has something in it while somebody holds or asks
	waiting atomic.Int32
	handed  atomic.Bool
	joins   bool // a second goroutine takes for its own what the first one asks for
	rest    bool // the next one gets the rest of the lease
}

func handingSubject(joins, rest bool) failures.Subject {
	return failures.Subject{Name: "handing", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &handing{plain: &plain{rdb: rdb, key: name, lease: lease}, turn: make(chan struct{}, 1), joins: joins, rest: rest}, nil
	}}
}

func (l *handing) Lock(ctx context.Context) error {
	if l.joins && len(l.turn) > 0 {
		return nil
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.handed.Swap(false) {
		return nil
	}
	err := l.plain.Lock(ctx)
	if err != nil {
		<-l.turn
	}
	return err
}

func (l *handing) Unlock(ctx context.Context) (err error) {
	if l.waiting.Load() > 0 {
		l.handed.Store(true)
		if !l.rest {
			err = l.rdb.PExpire(ctx, l.key, l.lease).Err()
		}
	} else {
		err = l.plain.Unlock(ctx)
	}
	select {
	case <-l.turn:
	default: // it had none
	}
	return err
}

// racing is a lock that takes its key in a transaction.
type racing struct {
	*plain
	fails bool // one that fails is an error
}

func racingSubject(fails bool) failures.Subject {
	return failures.Subject{Name: "racing", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &racing{&plain{rdb: rdb, key: name, lease: lease}, fails}, nil
	}}
}

func (l *racing) TryLock(ctx context.Context) (held bool, err error) {
	value := uuid.NewString()
	err = l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		n, err := tx.Exists(ctx, l.key).Result()
		if err != nil || n > 0 {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, l.key, value, l.lease).Err() })
		held = err == nil
		return err
	}, l.key)
	if held {
		l.value = value
	}
	if errors.Is(err, redis.TxFailedErr) && !l.fails {
		return false, nil
	}
	return held, err
}

func (l *racing) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

// wordy is a lock whose errors have the words of Redis's, and not their type.
type wordy struct{ *plain }

func (l wordy) TryLock(ctx context.Context) (bool, error) {
	held, err := l.plain.TryLock(ctx)
	return held, inWords(err)
}

func (l wordy) Lock(ctx context.Context) error { return inWords(l.plain.Lock(ctx)) }

func (l wordy) Unlock(ctx context.Context) error { return inWords(l.plain.Unlock(ctx)) }

func inWords(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("wordy: %v", err)
}

// early is a lock that talks to Redis as it is made.
func earlySubject(wrong mistake) failures.Subject {
	subject := plainSubject(wrong)
	create := subject.New
	subject.New = func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		heard := rdb.Subscribe(context.Background(), "freed:"+name)
		if _, err := heard.Receive(context.Background()); err != nil {
			return nil, err
		}
		if err := heard.Close(); err != nil {
			return nil, err
		}
		return create(rdb, name, lease)
	}
	return subject
}

// quarrelsome is a lock that fails with an error of its own, whoever holds it.
type quarrelsome struct{ *plain }

func (quarrelsome) TryLock(context.Context) (bool, error) {
	return false, errors.New("Timer already cancelled")
}

// remembering is a lock that keeps its value in a variable of all locks of that name, or has one
// value for ever.
type remembering struct {
	*plain
	values map[string]string
}

func rememberingSubject(value func() string) failures.Subject {
	values := map[string]string{}
	return failures.Subject{Name: "remembering", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return remembering{&plain{rdb: rdb, key: name, lease: lease, value: value()}, values}, nil
	}}
}

func (l remembering) TryLock(ctx context.Context) (bool, error) {
	value := l.value
	if value == "" {
		value = uuid.NewString()
	}
	held, err := l.rdb.SetNX(ctx, l.key, value, l.lease).Result()
	if held {
		l.values[l.key] = value
	}
	return held, err
}

func (l remembering) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l remembering) Unlock(ctx context.Context) error {
	return freeScript.Run(ctx, l.rdb, []string{l.key}, l.values[l.key]).Err()
}

func TestWhoseValueItIsThatFreesAnothersLock(t *testing.T) {
	const of = "wrong delete: A's EVALSHA removes the lock of B (B1)"
	for says, value := range map[string]func() string{
		of + ": A sends the value of B, which it never wrote": func() string { return "" },
		of + ": A and B wrote the same value":                 func() string { return "4dd9f4dc-2e29-4d52-a1fd-3b0e2c7f1a55" },
		of + ": A and B wrote the same value ":                func() string { return "locked" },
	} {
		require.Equal(t, strings.TrimSpace(says), play(t, find(t, "double-unlock"), rememberingSubject(value)).Sentence())
	}
}

// What strangers' locks do differently is right; what they do wrong is found all the same.
func TestStrangersLocksAreJudgedFairly(t *testing.T) {
	for _, c := range []struct {
		what      string
		failure   string
		right     failures.Subject
		wrong     failures.Subject
		convicted oracle.Monitor
	}{
		{"one owner value for all holds", "second-hold-renewed", watchedIn(oneValue, ""), watchedSubject(neverStops), oracle.Watchdog},
		{"owner values that look like words", "second-hold-renewed", watchedIn(wordValues, ""), watchedIn(wordValues, neverStops), oracle.Watchdog},
		{"a count outside the lock's key", "inner-unlock-frees", countingSubject(false, 0), countingSubject(false, 1), oracle.HoldCount},
		{"a count behind the owner's value", "inner-unlock-frees", tallySubject(false), tallySubject(true), oracle.Exclusion},
		{"a count that is written anew", "try-while-holding", tallySubject(false), plainSubject(valueFirst), oracle.Truth},
		{"a repeated acquire, counted outside the lock's key", "retry-count-two", countingSubject(false, 0), countingSubject(true, 0), oracle.Leak},
		{"waiters in no order", "wake-eaten", crowdSubject(false), crowdSubject(true), oracle.LostWakeUp},
		{"a renewal that finds nothing", "dog-unlock-race", watchedIn(leavesRenewal, ""), watchedSubject(stopsWithoutJoin), oracle.Truth},
		{"a renewal at once, and one under way", "dog-unlock-race", watchedIn(renewsAtOnce, ""), watchedIn(renewsAtOnce, stopsWithoutJoin), oracle.Truth},
		{"a renewal before Lock comes back", "second-hold-renewed", watchedIn(renewsAtOnce, ""), watchedIn(renewsAtOnce, neverStops), oracle.Watchdog},
		{"an acquire whose context ends", "acquire-context-ends", watchedSubject(""), watchedSubject(renewsInContext), oracle.Exclusion},
		{"a lease with less than a millisecond left", "last-millisecond", reentrantSubject(""), reentrantSubject(zeroIsGranted), oracle.Exclusion},
		{"a transaction in place of a script", "check-then-delete", transactingSubject(false), transactingSubject(true), oracle.WrongDelete},
		{"waiters that sleep in Redis", "unlock-wakes", queuedSubject(false), queuedSubject(true), oracle.LostWakeUp},
		{"waiters in a line in Redis", "waiter-gives-up", fairSubject(false, false), fairSubject(true, false), oracle.Truth},
		{"a waiter that dies in the line", "waiter-gives-up", fairSubject(false, false), fairSubject(false, true), oracle.Deadlock},
		{"a signal of losses only", "second-client", alarmedSubject(), plainSubject(waitsNot), oracle.Waiting},
		{"a lease that is a date in the value", "check-then-set", datedSubject(false, false), datedSubject(true, false), oracle.WrongDelete},
		{"a date in whole seconds", "lease-between-seconds", datedSubject(false, false), datedSubject(false, true), oracle.Exclusion},
		{"a key that is handed on in its process", "two-at-once", handingSubject(false, false), handingSubject(true, false), oracle.Truth},
		{"a key that is handed on with a new lease", "two-at-once", handingSubject(false, false), handingSubject(false, true), oracle.Exclusion},
		{"a transaction that somebody else was faster than", "check-then-set", racingSubject(false), racingSubject(true), oracle.Waiting},
		{"a turn in the process", "loss-hidden-at-unlock", turnSubject(false), turnSubject(true), oracle.Deadlock},
		{"a lock that subscribes as it is made", "check-then-set", earlySubject(""), earlySubject(asksFirst), oracle.Exclusion},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := find(t, c.failure)
			v := play(t, f, c.right)
			require.Equal(t, failures.Safe, v.Outcome, v.Sentence())
			v = play(t, f, c.wrong)
			require.Equal(t, failures.Broken, v.Outcome, v.Sentence())
			require.True(t, oracle.Convicts(v.Findings, c.convicted), v.Sentence())
			if c.convicted == oracle.Watchdog { // whose renewal it is shows, whatever its owner value looks like
				late := func(x oracle.Finding) bool { return strings.Contains(x.Text, "for A1, after its Unlock returned") }
				require.True(t, slices.ContainsFunc(v.Findings, late), v.Findings)
			}
		})
	}
}

// Where one goroutine of the lock sends for all callers, nobody can see for which of them. Such
// a lock is not convicted for that, and the verdict says which stories could not be told.
func TestLockWhoseGoroutineSendsForAllIsJudgedFairly(t *testing.T) {
	f := find(t, "two-at-once")
	v := play(t, f, servingSubject(false))
	require.Equal(t, failures.NotTold, v.Outcome, v.Sentence())
	require.Contains(t, v.Sentence(), "with AttributeTo")
	told := servingSubject(false)
	told.AttributeTo = func([]string) (string, bool) { return "", true }
	v = play(t, find(t, "grant-reply-lost"), told)
	require.Equal(t, "leak: Lock of A failed, and its key is still there after 10s", v.Sentence())
	v = play(t, f, servingSubject(true))
	require.True(t, oracle.Convicts(v.Findings, oracle.Exclusion), v.Sentence())
	v = play(t, find(t, "second-client"), servingSubject(false))
	require.Equal(t, failures.Safe, v.Outcome, v.Sentence())
}

// In wake-eaten the faster of two waiters harms nobody; elsewhere it would.
func TestWaiterThatIsOvertakenAsItLeavesIsNotTheStory(t *testing.T) {
	v := play(t, find(t, "wake-eaten"), crowdSubject(false))
	require.True(t, oracle.Convicts(v.Findings, oracle.BoundedWait))
	v.Failure.Given = nil
	against, convicted := v.Against()
	require.True(t, convicted)
	require.Equal(t, oracle.BoundedWait, against.Monitor)
}

func TestErrorOfTheLocksOwnIsToldAsItIs(t *testing.T) {
	subject := failures.Subject{Name: "quarrelsome", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return quarrelsome{&plain{rdb: rdb, key: name, lease: lease}}, nil
	}}
	v := play(t, failures.Failure{Script: func(w *world.World) { w.Client("A").TryLock() }}, subject)
	require.Equal(t, "truth: TryLock of A fails with Timer already cancelled, but nobody holds the lock", v.Sentence())
}

// An error of Redis may be one part of the lock's words, and its type lost.
func TestErrorOfRedisInTheLocksOwnWordsIsNoRefusal(t *testing.T) {
	for _, id := range []string{"oom", "late-unlock", "unlock-after-failed-unlock"} {
		v := play(t, find(t, id), failures.Subject{Name: "wordy", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return wordy{&plain{rdb: rdb, key: name, lease: lease}}, nil
		}})
		require.Equal(t, failures.Safe, v.Outcome, v.Sentence())
	}
}

func TestTimerThatArmsItselfAfterUnlockIsConvicted(t *testing.T) {
	for blind, want := range map[bool]failures.Outcome{false: failures.Safe, true: failures.Broken} {
		v := play(t, find(t, "dog-unlock-race"), timedSubject(blind))
		require.Equal(t, want, v.Outcome, v.Sentence())
	}
}

func TestWhoCountsOverwritesNobodyAndWhoSetsDoes(t *testing.T) {
	two := failures.Failure{Breaks: []oracle.Monitor{oracle.WrongDelete}, Script: func(w *world.World) {
		w.Client("A").TryLock()
		w.Client("B").TryLock()
	}}
	require.Equal(t, failures.Safe, play(t, two, counterSubject(false)).Outcome)
	v := play(t, two, counterSubject(true))
	require.Equal(t, "wrong delete: B's SET overwrites the lock of A (A1)", v.Sentence())
}
