package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
)

// errand is a lock whose goroutine sends the attempts of all its callers. Its value is its
// owner's name.
type errand struct {
	failures.Locker
	rdb     redis.UniversalClient
	errands chan func()
}

func newErrand(lock failures.Locker, rdb redis.UniversalClient) errand {
	e := errand{lock, rdb, make(chan func())}
	go func() {
		for run := range e.errands {
			run()
		}
	}()
	return e
}

func (e errand) Close() error {
	close(e.errands)
	return nil
}

func (e errand) TryLock(ctx context.Context) (held bool, err error) {
	done := make(chan struct{})
	e.errands <- func() {
		held, err = e.rdb.SetNX(ctx, "lock:order:1001", world.Lane(ctx), time.Minute/2).Result()
		close(done)
	}
	<-done
	return held, err
}

// The search knows all that the subject says of itself: without it, what one goroutine of a
// process takes is thought to be another's.
func TestSearchKnowsWhoseCommandsALockSends(t *testing.T) {
	subject := failures.Subject{Name: "errand", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		whole, err := columns.Must("2").Subject.New(rdb, name, lease)
		return newErrand(whole, rdb), err
	}}
	truth, err := schedule.FindProperty("truth")
	require.NoError(t, err)
	env, err := schedule.FindEnv("short-pauses")
	require.NoError(t, err)
	for _, attributed := range []bool{true, false} {
		if subject.AttributeTo = nil; attributed {
			subject.AttributeTo = func(args []string) (client string, is bool) {
				if is = args[0] == "set"; is {
					client = args[2]
				}
				return client, is
			}
		}
		s := schedule.Setup{Subject: subject, Clients: 3, Attempts: 1, Together: true, Env: env}
		result, err := schedule.Search(t, s, []schedule.Property{truth}, schedule.Limits{Bound: 0})
		require.NoError(t, err)
		require.Equal(t, !attributed, len(result.Found) > 0)
	}
}
