package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// errand is a lock that sends each attempt from a goroutine of a goroutine, so that the world
// cannot find its call. Its value is its owner's name.
type errand struct {
	failures.Locker
	rdb redis.UniversalClient
}

func (e errand) TryLock(ctx context.Context) (held bool, err error) {
	done := make(chan struct{})
	send := func() {
		held, err = e.rdb.SetNX(ctx, "lock:order:1001", world.ClientName(ctx), time.Minute/2).Result()
		close(done)
	}
	go func() { go send() }()
	<-done
	return held, err
}

// Without AttributeTo, the search takes the lock of one goroutine for that of another.
func TestSearchUsesAttributeTo(t *testing.T) {
	subject := failures.Subject{Name: "errand", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		whole, err := stages.MustFind("2").Subject.New(rdb, name, lease)
		return errand{whole, rdb}, err
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

// deaf is a lock whose Lock waits until its context ends.
type deaf struct{ failures.Locker }

func (deaf) Lock(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestRunEndsWithBlockedCalls(t *testing.T) {
	property, err := schedule.FindProperty("wake-up")
	require.NoError(t, err)
	subject := failures.Subject{Name: "deaf", New: func(redis.UniversalClient, string, time.Duration) (failures.Locker, error) {
		return deaf{}, nil
	}}
	s := schedule.Setup{Subject: subject, Clients: 2, Attempts: 1, Env: schedule.Envs[0], Property: property}
	played, err := schedule.Play(t, s, func(schedule.Point) (int, bool) { return 0, true })
	require.NoError(t, err)
	var waited []string
	for _, e := range played.Trace.Events {
		if e.Kind == trace.Blocked {
			waited = append(waited, e.Client)
		}
	}
	require.Equal(t, []string{"A", "B"}, waited)
}
