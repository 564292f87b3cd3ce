package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/redisserver"
)

// examinerFor starts redis-servers if the library needs them. Where none is
// installed it skips the test, but not in CI.
func examinerFor(t *testing.T, l library) *examiner {
	t.Helper()
	e, err := newExaminer(t, l.Live)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.close()) })
	if l.Live && e.servers == nil && os.Getenv("CI") != "true" {
		t.Skip(e.without)
	}
	require.NoError(t, e.without)
	return e
}

func TestEveryCardIsWhatItsLessonSays(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.Name, func(t *testing.T) {
			cards, err := examinerFor(t, l).examine(l, failures.All)
			require.NoError(t, err)
			for _, c := range cards {
				if errors.Is(c.verdict.Err, live.ErrBusy) {
					fmt.Fprintln(t.Output(), c.failure.ID, c.note)
				}
			}
			require.NoError(t, surprises([][]card{cards}))
		})
	}
}

func TestSameRunGivesTheSameBytes(t *testing.T) {
	for _, l := range libraries {
		if l.Live {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			e := examinerFor(t, l)
			first, err := e.examine(l, failures.All)
			require.NoError(t, err)
			again, err := e.examine(l, failures.All)
			require.NoError(t, err)
			for i, c := range first {
				if c.verdict.Trace != nil {
					require.True(t, bytes.Equal(c.verdict.Trace.Bytes(), again[i].verdict.Trace.Bytes()), c.failure.ID)
				}
			}
		})
	}
}

// broken is a lock that does one thing wrong.
type broken struct {
	failures.Locker
	try    func(failures.Locker, context.Context) (bool, error)
	unlock func(context.Context) error
}

func (b broken) TryLock(ctx context.Context) (bool, error) {
	if b.try != nil {
		return b.try(b.Locker, ctx)
	}
	return b.Locker.TryLock(ctx)
}

func (b broken) Unlock(ctx context.Context) error {
	if b.unlock != nil {
		return b.unlock(ctx)
	}
	return b.Locker.Unlock(ctx)
}

func (b broken) Close() error {
	if closer, ok := b.Locker.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// deaf takes the lock whatever the library answers.
func deaf(l failures.Locker, ctx context.Context) (bool, error) {
	_, err := l.TryLock(ctx)
	return true, err
}

// An adapter through which no lock could fail would make every card green.
func TestBrokenLockTurnsItsCardRed(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.Name, func(t *testing.T) {
			e := examinerFor(t, l)
			make, key := l.Subject.New, "order:1001"
			if l.Live {
				key = "rueidislock:0:" + key
			}
			for id, spoil := range map[string]func(failures.Locker, redis.UniversalClient) failures.Locker{
				"second-client": func(lock failures.Locker, _ redis.UniversalClient) failures.Locker {
					return broken{Locker: lock, try: deaf}
				},
				"stranger-unlock": func(lock failures.Locker, rdb redis.UniversalClient) failures.Locker {
					return broken{Locker: lock, unlock: func(ctx context.Context) error { return rdb.Del(ctx, key).Err() }}
				},
			} {
				f, ok := failures.Find(id)
				require.True(t, ok)
				spoiled := l
				spoiled.Subject.New = func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
					lock, err := make(rdb, name, lease)
					return spoil(lock, rdb), err
				}
				cards, err := e.examine(spoiled, []failures.Failure{f})
				require.NoError(t, err)
				require.Contains(t, []failures.Outcome{failures.Broken, failures.Astray}, cards[0].outcome, "%s: %s", id, cards[0].sentence())
				require.NoError(t, cards[0].verdict.Err)
				require.Error(t, surprises([][]card{cards}), id)
			}
		})
	}
}

func TestWatchdogIsWhatKeepsRedislocksLease(t *testing.T) {
	l, err := findLibrary("redislock")
	require.NoError(t, err)
	l.Subject.New = newRedislockUnwatched
	f, ok := failures.Find("work-outlives-ttl")
	require.True(t, ok)
	cards, err := examinerFor(t, l).examine(l, []failures.Failure{f})
	require.NoError(t, err)
	require.Equal(t, failures.Broken, cards[0].outcome)
}

func TestDefectsAreWhatIsSaidOfThem(t *testing.T) {
	all, err := tryAll(t)
	require.NoError(t, err)
	for _, d := range all {
		if d.skipped != nil && (os.Getenv("CI") == "true" || !errors.Is(d.skipped, redisserver.ErrMissing)) {
			t.Errorf("%s: %v", d.ID, d.skipped)
		}
		if !d.asExpected() {
			t.Errorf("%s: %s: %q", d.ID, d.verdict(), d.evidence.Lines)
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no redis-server
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{nil, 0, "live, not played: there is no redis-server"},
		{[]string{"--json"}, 0, `"link": "https://github.com/go-redsync/redsync/blob/v`},
		{[]string{"show", "grant-reply-lost", "--library", "redislock"}, 0, "the reply is lost: the connection"},
		{[]string{"show", "wake-lost", "--library", "redsync"}, 0, "not applicable"},
		{[]string{"show", "second-client", "--library", "rueidislock"}, 0, "there is no redis-server"},
		{[]string{"defects"}, 0, "not tried: hot-loop"},
		{[]string{"promises", "--library", "go-zero"}, 0, "https://go-zero.dev/en/docs/tutorials/redis/redis-lock"},
		{[]string{"show", "no-such", "--library", "redsync"}, 2, `there is no failure "no-such"`},
		{[]string{"show", "oom", "--library", "jedis"}, 2, `there is no library "jedis": choose from [redsync`},
		{[]string{"show", "--library", "redsync"}, 2, "show takes one failure, not 0: go run . lists them"},
		{[]string{"show", "oom"}, 2, `"library" not set`},
		{[]string{"grade"}, 2, `unknown command "grade"`},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			var out, errs bytes.Buffer
			require.Equal(t, c.status, run(t, c.args, &out, &errs), errs.String())
			require.Contains(t, out.String()+errs.String(), c.says)
		})
	}
}

// A line of a driver or a hook would be the same for every command.
func TestCommandsNameTheLinesOfTheLibrary(t *testing.T) {
	f, ok := failures.Find("second-client")
	require.True(t, ok)
	for name, file := range map[string]string{"redsync": "/mutex.go", "redislock": "/redislock.go", "go-zero": "redis/redislock.go"} {
		l, err := findLibrary(name)
		require.NoError(t, err)
		cards, err := examinerFor(t, l).examine(l, []failures.Failure{f})
		require.NoError(t, err)
		sources := 0
		for _, e := range cards[0].verdict.Trace.Events {
			if e.Source != nil {
				require.True(t, strings.HasSuffix(e.Source.File, file), "%s: %s", name, e.Source)
				sources++
			}
		}
		require.NotZero(t, sources, name)
	}
}
