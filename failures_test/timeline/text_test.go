package timeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// plain is SET NX PX and DEL.
type plain struct {
	rdb        redis.UniversalClient
	key, value string
	lease      time.Duration
}

func newPlain(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &plain{rdb, "lock:" + name, "locked", lease}, nil
}

func (p *plain) TryLock(ctx context.Context) (bool, error) {
	err := p.rdb.Do(ctx, "SET", p.key, p.value, "NX", "PX", p.lease.Milliseconds()).Err()
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
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain)}, scenario)
	require.NoError(t, err)
	return timeline.Text(tr, oracle.Judge(tr), options)
}

func TestTextShowsTheWholeRun(t *testing.T) {
	got := draw(t, timeline.Options{Width: 115}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Before(world.Of(trace.OpUnlock, world.Write)).Freeze()
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

func TestRepeatedAttemptsAreOneRow(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		a, b, c := w.Clients("A", "B", "C")
		a.Lock()
		b.Lock(world.Within(5050 * time.Millisecond))
		b.StartLock(world.Within(1050 * time.Millisecond))
		c.Lock(world.Within(1050 * time.Millisecond))
	})
	require.Equal(t, 1+1+2, strings.Count(got, "SET K"), "of several clients, too")
	require.Contains(t, strings.Join(strings.Fields(got), " "), "(nil), 51 │ times in 5s")
	require.Contains(t, strings.Join(strings.Fields(got), " "), "the deadline of Lock │ passes")
}

func TestRepeatedFindingsAreOneLine(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain)}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(5050 * time.Millisecond))
	})
	require.NoError(t, err)
	var found []oracle.Finding
	for _, e := range tr.Events {
		if e.Kind == trace.Executed && e.Client == "B" {
			found = append(found, oracle.Finding{Rule: oracle.WrongExtend, Step: e.Step, At: e.At, Client: "B", Text: "B asks"})
		}
	}
	got := timeline.Text(tr, found, timeline.Options{})
	require.Equal(t, 1, strings.Count(got, "✗"))
	require.Contains(t, got, "✗ wrong extend: B asks, 51 times in 5s\n")
}

func TestTwoInsideAreMarkedIfTheyShareALock(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		w.Client("A").Lock()
		w.ClientOf("O", "other").Lock()
	})
	require.Contains(t, got, "O, lock other")
	require.NotContains(t, got, "║")
	got = draw(t, timeline.Options{}, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(31 * time.Second)
		w.Client("B").Lock()
	})
	require.Contains(t, got, "║")
	require.Contains(t, got, "✗ broken exclusion: B is inside the lock while A still is")
}

func TestValueSharedByTwoHoldsIsMarked(t *testing.T) {
	tr, err := world.Run(t, world.Config{
		New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
			return &plain{rdb, "lock:" + name, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", lease}, nil
		}),
	}, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(31 * time.Second)
		w.Client("B").Lock()
	})
	require.NoError(t, err)
	got := timeline.Text(tr, nil, timeline.Options{})
	require.Contains(t, got, "SET K A1 NX PX 30000 → OK")
	require.Contains(t, got, "SET K A1=B1 NX PX 30000 → OK")
	require.Contains(t, got, "A1=B1, 30s left")
}

func TestHangingCommandIsShown(t *testing.T) {
	got := draw(t, timeline.Options{}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Cut()
		a.Unlock(world.Done())
		a.Unlock(world.Within(1234 * time.Millisecond))
	})
	for _, says := range []string{"Unlock(), with a cancelled context", "Unlock(), for 1.234s at most", "DEL K: no answer", "the deadline of Unlock passes"} {
		require.Contains(t, got, says)
	}
}

func TestCommandSentAgainAfterALostReplyIsMarked(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain), Client: world.DefaultRetries}, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Drop()
		a.TryLock()
		a.TryLock()
	})
	require.NoError(t, err)
	got := timeline.Text(tr, nil, timeline.Options{Width: 115})
	require.Contains(t, got, "  again: SET K locked NX PX 30000 → (nil)  ")
	require.Equal(t, 3, strings.Count(got, "SET K locked NX PX 30000 → "))
	require.Equal(t, 1, strings.Count(got, "again"), "the second TryLock is another call")
}

func TestEventsBetweenFaultsAreShown(t *testing.T) {
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

// generous is a lock with all optional methods: it counts, can be forced, and tells
// its holder of every loss at once.
type generous struct {
	*plain
	lost bool
}

func (g generous) HoldCount(context.Context) (int, error) { return 1, nil }

func (g generous) ForceUnlock(ctx context.Context) (bool, error) {
	n, err := g.rdb.Del(ctx, g.key).Result()
	return n > 0, err
}

func (g generous) Lost(context.Context) (<-chan struct{}, func() bool) {
	ended := make(chan struct{})
	close(ended)
	return ended, func() bool { return g.lost }
}

func TestOptionalMethodsAreShown(t *testing.T) {
	for lost, says := range map[bool]string{true: "is told: the hold is lost", false: "the context of its hold ends"} {
		tr, err := world.Run(t, world.Config{
			New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
				return generous{&plain{rdb, "lock:" + name, "locked", lease}, lost}, nil
			}),
		}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.HoldCount()
			b.ForceUnlock()
			b.ForceUnlock()
		})
		require.NoError(t, err)
		got := timeline.Text(tr, nil, timeline.Options{})
		for _, says := range []string{says, "= a count of 1", "= unlocked", "= nobody holds it"} {
			require.Contains(t, got, says)
		}
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

func TestFindingsWrapOnANarrowTerminal(t *testing.T) {
	for _, width := range []int{60, 5} {
		got := draw(t, timeline.Options{Width: width}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(31 * time.Second)
			b.Lock()
		})
		require.Contains(t, got, "✗ broken exclusion: ")
		for line := range strings.Lines(got) {
			if words := strings.TrimSpace(line); strings.Contains(line, "✗") {
				require.LessOrEqual(t, len([]rune(words)), max(width-6, 26), words)
			}
		}
	}
}

func TestColorsAreOptional(t *testing.T) {
	story := func(w *world.World) { w.Client("A").Lock() }
	require.NotContains(t, draw(t, timeline.Options{}, story), "\x1b")
	require.Contains(t, draw(t, timeline.Options{Color: true}, story), "\x1b[32m│")
}

func TestFindingStandsWhereItIsCertain(t *testing.T) {
	got := draw(t, timeline.Options{Width: 140}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.TryLock()
		b.Lock(world.Within(10 * time.Second))
		w.Sleep(30 * time.Second)
	})
	require.Regexp(t, `(?s)✗ deadlock: .+ lease over\s+✗ leak: TryLock of A failed, and its key stays for 30s\n`, got)
}

func TestDelayedCommandHasOneName(t *testing.T) {
	tr, err := world.Run(t, world.Config{
		New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
			return &plain{rdb, "lock:" + name, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", lease}, nil
		}),
	}, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Write).Delay(time.Second)
		a.Lock()
	})
	require.NoError(t, err)
	got := timeline.Text(tr, nil, timeline.Options{})
	require.Equal(t, 2, strings.Count(got, "SET K A1 NX PX 30000"), got)
	require.NotContains(t, got, "A?")
}

func TestCommandsThatTakeTurnsHaveOneTime(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain)}, func(w *world.World) {
		a, b, c := w.Clients("A", "B", "C")
		a.Lock()
		b.StartLock(world.Within(2 * time.Second))
		w.Sleep(50 * time.Millisecond)
		c.Lock(world.Within(2 * time.Second))
	})
	require.NoError(t, err)
	var spans []time.Duration
	for _, r := range timeline.NewStory(tr, nil, "en").Rows() {
		if strings.Contains(r.Text, "times in") && r.At >= 50*time.Millisecond {
			spans = append(spans, r.At, r.Until)
		}
	}
	require.Len(t, spans, 4)
	require.Equal(t, spans[:2], spans[2:])
}
