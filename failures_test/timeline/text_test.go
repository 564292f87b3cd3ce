package timeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// plain is SET NX PX and DEL.
type plain struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
}

func newPlain(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &plain{rdb, "lock:" + name, lease}, nil
}

func (p *plain) TryLock(ctx context.Context) (bool, error) {
	err := p.rdb.Do(ctx, "SET", p.key, "locked", "NX", "PX", p.lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (p *plain) Lock(ctx context.Context) error {
	for {
		if held, err := p.TryLock(ctx); err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *plain) Unlock(ctx context.Context) error { return p.rdb.Do(ctx, "DEL", p.key).Err() }

func draw(t *testing.T, options timeline.Options, scenario func(*world.World)) string {
	t.Helper()
	trace, err := world.Run(t, world.Config{New: newPlain}, scenario)
	require.NoError(t, err)
	return timeline.Text(trace, oracle.Judge(trace), options)
}

func TestPictureTellsTheStory(t *testing.T) {
	got := draw(t, timeline.Options{Width: 115}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Before(world.Of(world.OpUnlock, world.Write)).Freeze()
		a.Unlock()
		w.Sleep(31 * time.Second)
		b.TryLock()
		a.Thaw()
	})
	require.Equal(t, strings.TrimPrefix(`
K = lock:order:1001
time    A                                B                              Redis
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
0s      Lock()
        SET K locked NX PX 30000 → OK                                   locked (A1), 30s left  lock.go:0
      │ = has the lock
        Unlock()
      ░ stands still before DEL K
      ░ ⋮ 30s later
30s   ░                                                                 lease over
      ░ ⋮ 1s later
31s   ░                                  TryLock()
      ░                                  SET K locked NX PX 30000 → OK  locked (B1), 30s left  lock.go:0
      ░                                │ = has the lock
        goes on                        │
        DEL K → 1                      │                                no key                 lock.go:0
      ✗ wrong delete: A's DEL removes the lock of B (B1)
        = unlocked                     │
`, "\n"), withoutLines(got))
}

// withoutLines replaces the lines of this file, which move.
func withoutLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if at := strings.Index(line, "text_test.go:"); at >= 0 {
			line = line[:at] + "lock.go:0\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestRunOfEqualAttemptsIsOneRow(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(5050 * time.Millisecond))
	})
	require.Equal(t, 2, strings.Count(got, "SET K"))
	require.Contains(t, strings.Join(strings.Fields(got), " "), "(nil), 51 locked (A1), 25s left")
}

func TestRunOfEqualRefusalsIsOneRowToo(t *testing.T) {
	trace, err := world.Run(t, world.Config{New: newPlain, Client: world.DefaultRetries}, func(w *world.World) {
		a := w.Client("A")
		for range 3 {
			a.Before(world.Write).Fail("LOADING Redis is starting")
		}
		a.Lock()
	})
	require.NoError(t, err)
	got := strings.Join(strings.Fields(timeline.Text(trace, nil, timeline.Options{})), " ")
	require.Contains(t, got, "→ (error) LOADING Redis is starting, 3 times")
	require.Contains(t, got, "→ OK")
}

func TestRefusedSubscriptionIsNotOK(t *testing.T) {
	for reply, shown := range map[string]string{"[subscribe c 1]": "SUBSCRIBE → OK", "(error) NOPERM": "SUBSCRIBE → (error) NOPERM"} {
		trace := &world.Trace{Lanes: []string{"A"}, Lease: time.Minute}
		for i, kind := range []world.Kind{world.Sent, world.Executed, world.Delivered} {
			trace.Events = append(trace.Events, world.Event{
				Step: i + 1, Kind: kind, Client: "A", Process: "A", Request: 1, Background: true, Command: []string{"SUBSCRIBE", "c"}, Reply: reply,
			})
		}
		require.Contains(t, strings.Join(strings.Fields(timeline.Text(trace, nil, timeline.Options{})), " "), shown)
	}
}

func TestTwoInsideAreMarkedOnBothLanes(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
	})
	require.Contains(t, got, "║")
	require.Contains(t, got, "✗ exclusion: B is inside the lock while A still is")
}

func TestWhatHappensBetweenTheFaultsIsTold(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		b.Before(world.Write).Fail("OOM no memory")
		b.TryLock()
		b.After(world.Installs).Delay(time.Second)
		b.TryLock().Cancel()
		a.Check("tea")
		a.Insert("tea")
	})
	for _, says := range []string{"(error) OOM no memory", "the caller cancels TryLock", `check order "tea": free`, "tea by A"} {
		require.Contains(t, strings.Join(strings.Fields(got), " "), says)
	}
}

// generous is a lock with all that a Locker may have: it counts, can be forced, and
// tells its holder of every loss at once.
type generous struct{ *plain }

func (g generous) HoldCount(context.Context) (int, error) { return 1, nil }

func (g generous) ForceUnlock(ctx context.Context) (bool, error) {
	n, err := g.rdb.Del(ctx, g.key).Result()
	return n > 0, err
}

func (g generous) Lost(context.Context) (<-chan struct{}, func() bool) {
	ended := make(chan struct{})
	close(ended)
	return ended, func() bool { return true }
}

func TestWhatALockMayHaveBeyondTheThreeCallsIsInThePicture(t *testing.T) {
	trace, err := world.Run(t, world.Config{
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
			return generous{&plain{rdb, "lock:" + name, lease}}, nil
		},
	}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.HoldCount()
		b.ForceUnlock()
		b.ForceUnlock()
	})
	require.NoError(t, err)
	got := strings.Join(strings.Fields(timeline.Text(trace, nil, timeline.Options{})), " ")
	for _, says := range []string{"is told: the hold is lost", "= a count of 1", "= unlocked", "= nobody holds it"} {
		require.Contains(t, got, says)
	}
}

func TestNarrowTerminalWrapsInsteadOfCutting(t *testing.T) {
	got := draw(t, timeline.Options{Width: 90}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.TryLock()
	})
	for line := range strings.Lines(got) {
		require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 92)
	}
	require.Contains(t, got, "NX")
}

func TestSentencesBelowARowFoldOnANarrowTerminal(t *testing.T) {
	for _, width := range []int{60, 5} {
		got := draw(t, timeline.Options{Width: width}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(31 * time.Second)
			b.Lock()
		})
		require.Contains(t, got, "✗ exclusion: ")
		for line := range strings.Lines(got) {
			if words := strings.TrimSpace(line); strings.Contains(line, "✗") {
				require.LessOrEqual(t, len([]rune(words)), max(width-6, 26), words)
			}
		}
	}
}

func TestColorsAreOnlyThereWhenAskedFor(t *testing.T) {
	story := func(w *world.World) { w.Client("A").Lock() }
	require.NotContains(t, draw(t, timeline.Options{}, story), "\x1b")
	require.Contains(t, draw(t, timeline.Options{Color: true}, story), "\x1b[32m│")
}

func TestCommandOfTheBusinessIsDone(t *testing.T) {
	returned := world.Event{Op: world.OpRun, Result: &world.Result{Claim: world.ClaimDone}}
	require.Equal(t, "done", timeline.Result(returned, i18n.English))
	returned.Result = &world.Result{Claim: world.ClaimUnknown, Error: "i/o timeout"}
	require.Equal(t, "error: i/o timeout", timeline.Result(returned, i18n.English))
}
