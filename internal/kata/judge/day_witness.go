package judge

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// witnessed makes the same locks, one of them of another name, and hears answers
// that no trace has room for.
func (d *day) witnessed(create world.New) world.New {
	made := 0
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		if made++; made == 2 && d.w != nil && d.isOther() {
			name = otherOf(name)
		}
		locker, err := create(rdb, name, lease)
		if err == nil && (locker == nil || reflect.ValueOf(locker).Kind() == reflect.Pointer && reflect.ValueOf(locker).IsNil()) {
			return nil, fmt.Errorf("NewMutex returns neither a lock nor an error")
		}
		if _, fenced := locker.(world.Fenced); fenced {
			return locker, err // a witness would hide its tokens
		}
		return witness{locker, d}, err
	}
}

// isOther tells whether the client that was made last is the one whose lock has
// another name.
func (d *day) isOther() bool {
	lanes := d.w.Trace().Lanes
	return lanes[len(lanes)-1] == otherName
}

// witness is a lock whose contradictions are noted.
type witness struct {
	world.Locker
	day *day
}

// TryLock makes one attempt.
func (l witness) TryLock(ctx context.Context) (bool, error) {
	held, err := l.Locker.TryLock(ctx)
	if held && err != nil {
		text := fmt.Sprintf("TryLock answers two things at once: true, so the caller holds the lock, and an error: %v.", err)
		l.day.nonsense.Store(&text)
	}
	return held, err
}
