package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

const taken = "v1/stage3/check-then-delete@9/1x/pause/wrong-delete/a.A"

func TestTextOfARunThatContinuesAFailure(t *testing.T) {
	s, name, steps, err := schedule.Parse(taken)
	require.NoError(t, err)
	require.Equal(t, "stage3", name)
	require.Equal(t, "check-then-delete", s.From.Failure.ID)
	require.Equal(t, 9, s.From.Events)
	s.Subject = stages.MustFind("3").Subject
	require.Equal(t, taken, schedule.Text(s, steps))
	for wrong, says := range map[string]string{
		"v1/stage3/no-such@9/1x/pause/leak/":           `there is no failure "no-such"`,
		"v1/stage3/check-then-delete@/1x/pause/leak/":  "the number of events",
		"v1/stage3/check-then-delete@0/1x/pause/leak/": "the number of events",
	} {
		_, _, _, err := schedule.Parse(wrong)
		require.ErrorContains(t, err, says)
	}
}

// Violations from before the moment do not count.
func TestScheduleContinuesAFailure(t *testing.T) {
	s, _, _, err := schedule.Parse(taken)
	require.NoError(t, err)
	s.Subject = stages.MustFind("3").Subject
	var astray error
	played, err := schedule.Play(t, s, schedule.Follow([]string{"za", "t", "b", "wa", "a"}, &astray))
	require.NoError(t, err)
	require.NoError(t, astray)
	require.Equal(t, []int{1, 1, 0, 0, 0}, played.Costs, "A is paused before its DEL until B has the lock")
	require.Len(t, played.Broken(s.Property.Breaks), 1)

	f, _ := catalogue.Find("delete-foreign")
	verdict := failures.Run(t, f, stages.MustFind("2").Subject)
	require.Equal(t, failures.Broken, verdict.Outcome)
	s.Subject, s.From = stages.MustFind("2").Subject, &schedule.Start{Failure: f, Events: len(verdict.Trace.Events)}
	played, err = schedule.Play(t, s, func(schedule.Point) (int, bool) { return 0, false })
	require.NoError(t, err)
	require.Empty(t, played.Broken(s.Property.Breaks))
}

// This holds for each moment at which the schedule can take over.
func TestContinuedClientsUnlockEachHold(t *testing.T) {
	for id, stage := range map[string]string{"work-outlives-ttl": "5", "try-while-holding": "5", "inner-unlock-frees": "6.3"} {
		f, _ := catalogue.Find(id)
		subject := stages.MustFind(stage).Subject
		s, _, _, err := schedule.Parse(taken)
		require.NoError(t, err)
		s.Subject = subject
		for n := range failures.Run(t, f, subject).Trace.Events {
			s.From = &schedule.Start{Failure: f, Events: n + 1}
			played, err := schedule.Play(t, s, func(p schedule.Point) (int, bool) { return p.Default, true })
			require.NoError(t, err)
			inside := map[string]int{}
			for _, e := range played.Trace.Events {
				switch {
				case e.Acquires():
					inside[e.Client]++
				case e.Kind == trace.Called && e.Op == trace.OpUnlock:
					inside[e.Client]--
				}
			}
			for client, more := range inside {
				require.Zero(t, more, "%s of %s on stage %s, taken over after event %d", client, id, stage, n)
			}
		}
	}
}

func TestNamesHaveAWordInChinese(t *testing.T) {
	var ids []string
	for _, e := range schedule.Envs {
		ids = append(ids, e.Name)
	}
	for _, p := range schedule.Properties {
		ids = append(ids, p.Name)
	}
	for _, id := range ids {
		require.Equal(t, id, schedule.NameIn(i18n.English, id))
		require.Regexp(t, `\p{Han}.*（`+id+`）$`, schedule.NameIn(i18n.Chinese, id))
	}
}

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
	subject := failures.Subject{Name: "errand", New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		whole, err := stages.MustFind("2").Subject.New(adapters.Using(rdb), name, lease)
		return errand{whole, rdb}, err
	})}
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
	subject := failures.Subject{Name: "deaf", New: adapters.Plain(func(redis.UniversalClient, string, time.Duration) (failures.Locker, error) {
		return deaf{}, nil
	})}
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

// FuzzStage6 uses the bytes as choices. It prints each violation as a schedule for replay.
func FuzzStage6(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 5, 0, 2, 0, 0, 0, 1, 0, 0})          // pauses while it holds the lock
	f.Add([]byte{0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, 0, 0}) // waits
	f.Add([]byte{2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
	column := stages.MustFind("6")
	f.Fuzz(func(t *testing.T, choices []byte) {
		subject, err := failures.DiscoverScripts(t, column.Subject)
		require.NoError(t, err)
		for _, q := range schedule.Suite {
			setup, properties := q.Ask(subject, 2)
			at := 0
			setup.Property = properties[0]
			played, err := schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
				if at == len(choices) {
					return p.Default, true
				}
				at++
				return int(choices[at-1]) % len(p.Choices), true
			})
			require.NoError(t, err, schedule.Text(setup, played.Schedule))
			for _, p := range properties {
				if column.Search(p.Name, q.Env) != "none" {
					continue
				}
				setup.Property = p
				found := oracle.Ask(played.Trace, p.Breaks...)
				require.Empty(t, found, "go run . replay '%s'", schedule.Text(setup, played.Schedule))
			}
		}
	})
}
