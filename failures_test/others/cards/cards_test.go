package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

// tryDefects tries those of the libraries that need a real Redis, or of the others.
func tryDefects(t *testing.T, e *examiner, live bool) {
	t.Helper()
	for _, d := range defects {
		l, err := findLibrary(d.Library)
		require.NoError(t, err)
		if l.Live == live {
			shown, evidence, err := e.try(d, l)
			require.NoError(t, err, d.ID)
			require.Equal(t, !d.Refuted, shown, "%s: %s", d.ID, evidence)
		}
	}
}

// broken is a lock that does one thing wrong: its TryLock takes the lock whatever
// the library answers, or its Unlock frees it whoever holds it.
type broken struct {
	failures.Locker
	deaf bool
	free func(context.Context) error
}

func (b broken) TryLock(ctx context.Context) (bool, error) {
	held, err := b.Locker.TryLock(ctx)
	return held || b.deaf, err
}

func (b broken) Unlock(ctx context.Context) error {
	if b.free != nil {
		return b.free(ctx)
	}
	return b.Locker.Unlock(ctx)
}

func (b broken) Close() error {
	if closer, ok := b.Locker.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// requireRed asks whether a card turns red when its lock is broken on purpose: an
// adapter through which no lock could fail would make every card green.
func requireRed(t *testing.T, e *examiner, l library, key string) {
	t.Helper()
	make := l.Subject.New
	for _, id := range []string{"second-client", "stranger-unlock"} {
		f, _ := failures.Find(id)
		l.Subject.New = func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			lock, err := make(rdb, name, lease)
			b := broken{Locker: lock, deaf: id == "second-client"}
			if !b.deaf {
				b.free = func(ctx context.Context) error { return rdb.Del(ctx, key).Err() }
			}
			return b, err
		}
		cards, err := e.examine(l, f)
		require.NoError(t, err)
		require.NoError(t, cards[0].verdict.Err)
		require.Equal(t, failures.Broken, cards[0].outcome, "%s on %s", id, l.Name)
		require.Error(t, surprises(cards))
	}
}

// newExaminer examines in fake time.
func newExaminer(t *testing.T) *examiner {
	return &examiner{t: t, ready: map[string]failures.Subject{}}
}

// The runs in fake time, twice: the same run gives the same bytes.
func TestEveryCardIsWhatItsLessonSays(t *testing.T) {
	for _, l := range libraries {
		if l.Live {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			e := newExaminer(t)
			first, err := e.examine(l, failures.All...)
			require.NoError(t, err)
			require.NoError(t, surprises(first))
			again, err := e.examine(l, failures.All...)
			require.NoError(t, err)
			for i, c := range first {
				if c.verdict.Trace != nil {
					require.True(t, bytes.Equal(c.verdict.Trace.Bytes(), again[i].verdict.Trace.Bytes()), c.failure.ID)
				}
			}
			requireRed(t, e, l, "order:1001")
		})
	}
}

func TestDefectsAreWhatIsSaidOfThem(t *testing.T) {
	tryDefects(t, newExaminer(t), false)
}

// A line of a driver or a hook would be the same for every command.
func TestCommandsNameTheLinesOfTheLibrary(t *testing.T) {
	f, _ := failures.Find("second-client")
	for name, file := range map[string]string{"redsync": "/mutex.go", "redislock": "/redislock.go", "go-zero": "redis/redislock.go"} {
		l, err := findLibrary(name)
		require.NoError(t, err)
		cards, err := newExaminer(t).examine(l, f)
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

func TestCommandLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no redis-server
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"", 0, "live, not played: there is no redis-server"},
		{"show grant-reply-lost redislock", 0, "the reply is lost: the connection"},
		{"show wake-lost redsync", 0, "not applicable"},
		{"show second-client rueidislock", 0, "there is no redis-server"},
		{"defects", 0, "not tried: hot-loop"},
		{"show no-such redsync", 2, `there is no failure "no-such"`},
		{"show oom jedis", 2, `there is no library "jedis": choose from redsync`},
		{"show oom", 2, `"show oom" is no command: give show FAILURE LIBRARY`},
		{"grade", 2, `"grade" is no command`},
	} {
		t.Run(c.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			require.Equal(t, c.status, run(t, strings.Fields(c.args), &out, &errs), errs.String())
			require.Contains(t, fmt.Sprint(&out, &errs), c.says)
		})
	}
}
