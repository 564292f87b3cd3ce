package judge

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// witnessed makes the same locks, and hears answers that no trace has room for.
func (d *day) witnessed(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		locker, err := create(rdb, name, lease)
		if made := reflect.ValueOf(locker); err == nil && (locker == nil || made.Kind() == reflect.Pointer && made.IsNil()) {
			return nil, fmt.Errorf("NewMutex returns neither a lock nor an error")
		}
		if _, fenced := locker.(world.Fenced); fenced {
			return locker, err // a witness would hide its tokens
		}
		return witness{locker, d, rdb}, err
	}
}

// witness is a lock whose contradictions are noted.
type witness struct {
	world.Locker
	day *day
	rdb redis.UniversalClient
}

// witnessFile is what a command of a witness has for its line.
const witnessFile = "judge/day_witness.go"

// Lock waits for the lock.
func (l witness) Lock(ctx context.Context) error {
	defer l.day.notePanic()
	return l.Locker.Lock(ctx)
}

// notePanic remembers the line of the lock that has panicked.
func (d *day) notePanic() {
	if p := recover(); p != nil {
		for _, g := range ofLock() {
			if g.state == "running" {
				d.panicked = g.inner
			}
		}
		panic(p)
	}
}

// Unlock frees the lock.
func (l witness) Unlock(ctx context.Context) error {
	defer l.day.notePanic()
	if l.day.key != "" {
		l.day.values = append(l.day.values, l.rdb.Get(ctx, l.day.key).Val())
	}
	return l.Locker.Unlock(ctx)
}

// Close ends a lock that has to be ended.
func (l witness) Close() error { return closed(l.Locker) }

// closed closes a lock that has to be ended.
func closed(l world.Locker) error {
	if closing, ok := l.(io.Closer); ok {
		return closing.Close()
	}
	return nil
}

var twoAnswers = i18n.New("TryLock answers two things at once: true, so the caller holds the lock, and an error: {error}.")

// TryLock makes one attempt.
func (l witness) TryLock(ctx context.Context) (bool, error) {
	defer l.day.notePanic()
	held, err := l.Locker.TryLock(ctx)
	if held && err != nil {
		text := twoAnswers.Args("error", err)
		l.day.nonsense.Store(&text)
	}
	return held, err
}
