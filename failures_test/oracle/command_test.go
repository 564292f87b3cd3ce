package oracle_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/edits"
	"lockkata/internal/stages"
)

// at gives the last event a line of the lock.
func (s *story) at(line int) *story {
	s.trace.Events[len(s.trace.Events)-1].Source = &trace.Source{File: "lock/mutex.go", Line: line}
	return s
}

// line returns the line of the first finding by a rule; 0 if it names none.
func (s *story) line(t *testing.T, rule oracle.Rule) int {
	t.Helper()
	found := oracle.Ask(&s.trace, rule)
	require.NotEmpty(t, found)
	if source := found[0].CommandIn(&s.trace).Source; source != nil {
		return source.Line
	}
	return 0
}

func TestFindingNamesTheCommandThatItIsAbout(t *testing.T) {
	foreign := func(s *story) trace.Effect { return trace.Effect{Kind: trace.Removed, Key: "k", Owner: s.installed()} }
	given := func(s *story) trace.Effect { return trace.Effect{Kind: trace.Leased, Key: "k", Owner: s.installed()} }
	wrong := newStory().holds("A", "A1").call("B", trace.OpUnlock)
	require.Equal(t, 7, wrong.does("B", foreign(wrong)).at(7).line(t, oracle.WrongDelete), "the command that broke the rule")

	failed := func() *story { return newStory().call("A", trace.OpLock).installs("A", "A1").at(3) }
	require.Equal(t, 3, failed().returns("A", unknown).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that set the key")
	longer := failed()
	longer.does("A", given(longer)).at(4)
	require.Equal(t, 4, longer.returns("A", unknown).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that gave it its lease")
	unlocked := failed().returns("A", held).call("A", trace.OpUnlock).does("A").at(9)
	require.Equal(t, 9, unlocked.returns("A", done).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that has not removed it")

	require.Equal(t, 5, newStory().holds("A", "A1").call("B", trace.OpLock).does("B").at(5).returns("B", held).line(t, oracle.Truth), "the one whose answer the result belies")
	require.Equal(t, 5, newStory().holds("A", "A1").call("B", trace.OpLock).does("B").at(5).returns("B", held).line(t, oracle.Exclusion))
	late := newStory().holds("A", "A1")
	require.Zero(t, late.lapse(late.installed()).call("B", trace.OpLock).installs("B", "B1").at(5).returns("B", held).line(t, oracle.Exclusion), "a lease that ends is the fault of no command")

	asleep := newStory().holds("A", "A1").call("B", trace.OpLock).sends(trace.Sent, "B", "SUBSCRIBE").at(6).sends(trace.Delivered, "B", "SUBSCRIBE")
	asleep.frees("A", "A1").pass(time.Minute).sends(trace.Sent, "B", "SET").at(8)
	require.Equal(t, 6, asleep.line(t, oracle.LostWakeUp), "what the waiter sent before it slept, not what it sent when it woke up")
}

func TestFindingAboutAnotherClientNamesNoLine(t *testing.T) {
	s := newStory().holds("A", "A1").call("B", trace.OpTryLock).pass(time.Minute)
	s.call("C", trace.OpLock).does("C").at(8)
	require.Zero(t, s.line(t, oracle.Waiting))
}

// Each rule has a lock that breaks it and, in the same failure, one that keeps it. A rule that is
// missing here has an edit: TestEachEditBreaksItsCell plays the lock with the edit and without it.
func TestEachRuleHasALockThatBreaksItAndOneThatKeepsIt(t *testing.T) {
	trials := map[oracle.Rule]struct {
		failure       string
		breaks, keeps failures.Subject
	}{
		oracle.WrongDelete:  {"check-then-delete", stage("3"), stage("4")},
		oracle.Leak:         {"crash-before-expire", stage("1"), stage("2")},
		oracle.Deadlock:     {"crash-before-expire", stage("1"), stage("2")},
		oracle.LossHidden:   {"loss-hidden-at-unlock", stage("2"), stage("3")},
		oracle.Truth:        {"stranger-unlock", stage("2"), stage("3")},
		oracle.Exclusion:    {"check-then-delete", stage("3"), stage("4")},
		oracle.EndlessHold:  {"renewed-for-ever", stage("5"), stage("6")},
		oracle.Polling:      {"idle-waiters", stage("5"), stage("6")},
		oracle.Damage:       {"work-outlives-ttl", stage("4"), stage("5")},
		oracle.RenewalCount: {"dog-per-reentry", stage("doc2"), stage("6")},
		oracle.BoundedWait:  {"fair-in-process", lastFirstSubject(), stage("6")},
	}
	for rule, trial := range trials {
		t.Run(string(rule), func(t *testing.T) {
			require.True(t, oracle.Violates(play(t, trial.failure, trial.breaks).Findings, rule), trial.breaks.Name)
			require.False(t, oracle.Violates(play(t, trial.failure, trial.keeps).Findings, rule), trial.keeps.Name)
		})
	}
	for _, rule := range oracle.Rules() {
		_, tried := trials[rule]
		require.True(t, tried || slices.ContainsFunc(edits.All, func(e edits.Edit) bool { return e.Rule == rule }), "%s: no lock breaks it", rule)
	}
}

func stage(id string) failures.Subject { return stages.MustFind(id).Subject }

func play(t *testing.T, id string, subject failures.Subject) failures.Verdict {
	t.Helper()
	f, ok := catalogue.Find(id)
	require.True(t, ok, id)
	v := failures.Run(t, f, subject)
	require.NoError(t, v.Err)
	return v
}

func TestTwoHoldersWithoutAWriteAreNoDamage(t *testing.T) {
	require.False(t, oracle.Violates(play(t, "slow-grant", stage("4")).Findings, oracle.Damage))
}

// lastFirst is stage 4 with a line in the process that serves the last waiter first.
type lastFirst struct {
	failures.Locker
	mu   sync.Mutex
	line []chan struct{}
}

func lastFirstSubject() failures.Subject {
	create := stage("4").New
	return failures.Subject{
		Name: "last first", Has: stage("6").Has,
		New: func(p *world.Process, name string, lease time.Duration) (failures.Locker, error) {
			lock, err := create(p, name, lease)
			return &lastFirst{Locker: lock}, err
		},
	}
}

func (l *lastFirst) Lock(ctx context.Context) error {
	turn := make(chan struct{})
	l.mu.Lock()
	if l.line = append(l.line, turn); len(l.line) == 1 {
		close(turn)
	}
	l.mu.Unlock()
	<-turn
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.line = slices.DeleteFunc(l.line, func(c chan struct{}) bool { return c == turn })
		if n := len(l.line); n > 0 {
			close(l.line[n-1])
		}
	}()
	return l.Locker.Lock(ctx)
}

// shared is a lock whose clients remember their values in one place.
type shared struct {
	rdb    redis.UniversalClient
	key    string
	lease  time.Duration
	value  func() string
	values map[string]string
}

func (l shared) TryLock(ctx context.Context) (bool, error) {
	value := l.value()
	held, err := l.rdb.SetNX(ctx, l.key, value, l.lease).Result()
	if held {
		l.values[l.key] = value
	}
	return held, err
}

func (l shared) Lock(ctx context.Context) error {
	_, err := l.TryLock(ctx)
	return err
}

func (l shared) Unlock(ctx context.Context) error {
	return l.rdb.Eval(ctx, `-- free
if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end
return 1`, []string{l.key}, l.values[l.key]).Err()
}

func TestWrongDeleteNamesTheOwnerOfTheValue(t *testing.T) {
	now := func() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }
	for _, c := range []struct {
		value func() string
		says  string
	}{
		{uuid.NewString, ": A sent B's value, which A never wrote"},
		{func() string { return "locked" }, ": A and B wrote the same value"},
		{now, ": A sent B's value, which A never wrote"},
	} {
		values := map[string]string{}
		subject := failures.Subject{Name: "shared", New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return shared{rdb, name, lease, c.value, values}, nil
		})}
		require.Equal(t, "wrong delete: A's EVAL removes the lock of B (B1)"+c.says, play(t, "double-unlock", subject).Sentence())
	}
}

// clocked is a lock whose values are the time. Two of them are equal only where no time passes.
type clocked struct{ shared }

func (l clocked) Unlock(ctx context.Context) error {
	n, err := l.rdb.Eval(ctx, `-- free
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`, []string{l.key}, l.values[l.key]).Int()
	if err == nil && n == 0 {
		err = errors.New("not held")
	}
	return err
}

func TestValuesThatAreEqualOnlyInNoTimeBreakNoLock(t *testing.T) {
	subject := failures.Subject{Name: "clocked", New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		now := func() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }
		return clocked{shared{rdb, name, lease, now, map[string]string{}}}, nil
	})}
	for id, says := range map[string]string{
		"double-unlock": "no rule is broken",
		"new-values":    "repeated value: O and A wrote the same value: a clock is not enough, make it of at least 8 random bytes",
	} {
		require.Equal(t, says, play(t, id, subject).Sentence(), id)
	}
}
