package oracle_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

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
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			lock, err := create(rdb, name, lease)
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
		{now, ": A and B wrote the same value, but only because no time passes between two calls in this run"},
	} {
		values := map[string]string{}
		subject := failures.Subject{Name: "shared", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return shared{rdb, name, lease, c.value, values}, nil
		}}
		require.Equal(t, "wrong delete: A's EVAL removes the lock of B (B1)"+c.says, play(t, "double-unlock", subject).Sentence())
	}
}
