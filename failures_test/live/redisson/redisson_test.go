//go:build live

package redisson_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/live/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The kinds of Redis: a single server, or a Cluster with Redisson's shardedSubscriptionMode OFF or
// AUTO, its default. Stage 6 does not publish to shards.
const (
	single  = "single"
	cluster = "OFF"
	sharded = "AUTO"
)

// arena is one Redis with a Redisson. It runs one check at a time, because checks count commands.
type arena struct {
	t        *testing.T
	mode     string
	node     *topology.Node
	client   func() redis.UniversalClient
	redisson side
	table    strings.Builder // results of the checks
	locks    int             // the number so far
}

func newArena(t *testing.T, mode string) *arena {
	a := &arena{t: t, mode: mode}
	if mode == single {
		a.node = topology.Start(t, redisserver.Config{})
		a.client = func() redis.UniversalClient { return realredis.NewClient(a.node.Socket()) }
	} else {
		c := topology.StartCluster(t, 1)
		a.node, a.client = c.Nodes[0], func() redis.UniversalClient { return c.Client() }
	}
	a.redisson = redissonSide(t, a.node.Addr(), mode)
	t.Cleanup(func() { fmt.Fprint(t.Output(), a.table.String()) })
	return a
}

// play runs a check and returns its failure.
func (a *arena) play(g side, c check, first string) error {
	a.locks++
	r := &round{node: a.node, a: g, b: a.redisson, lock: fmt.Sprintf("order:%d", a.locks)}
	if first != g.name {
		r.a, r.b = r.b, r.a
	}
	start := time.Now()
	r.ctx, r.end = context.WithCancelCause(a.t.Context())
	defer r.end(nil) // ends goroutines of the check
	defer time.AfterFunc(30*time.Second, func() { r.end(errors.New("it takes longer than 30 s")) }).Stop()
	var check sync.WaitGroup
	check.Go(func() { c.run(r) })
	check.Wait()
	err, word := context.Cause(r.ctx), "ok"
	if err != nil {
		word = "FAIL: " + err.Error()
	}
	fmt.Fprintf(&a.table, "%-58s %7.3f s  %s\n", fmt.Sprintf(c.text, r.a.name, r.b.name), time.Since(start).Seconds(), word)
	return err
}

// inEach runs a test in parallel for each mode, each with a new arena. The tests are skipped
// without Java or Maven, and, except in CI, if Maven cannot download Redisson.
func inEach(t *testing.T, modes []string, test func(a *arena)) {
	if _, err := classpath(); err != nil && (errors.Is(err, exec.ErrNotFound) || os.Getenv("CI") != "true") {
		t.Skip("install a JDK 17 and Maven to see stage 6 and Redisson share a lock:", err)
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(newArena(t, mode))
		})
	}
}

func TestStage6AndRedissonShareALock(t *testing.T) {
	inEach(t, modes, func(a *arena) {
		g := goSide(a.t, a.client())
		for _, c := range checks {
			for _, first := range c.first {
				if slices.Contains(c.modes, a.mode) {
					require.NoError(a.t, a.play(g, c, first), c.name)
				}
			}
		}
	})
}

// This tests the checks: each mistake must fail some of them.
func TestEachMistakeFailsItsChecks(t *testing.T) {
	inEach(t, []string{single, sharded}, func(a *arena) {
		for _, m := range mistakes {
			if m.mode == a.mode {
				a.requireFailures(m)
			}
		}
	})
}

// requireFailures runs the checks that the mistake must fail. A check can pass by chance if a
// waiter comes just after a message that it would not have received, so each is tried three times.
func (a *arena) requireFailures(m mistake) {
	fmt.Fprintf(&a.table, "with %s:\n", m.name)
	rdb := a.client()
	rdb.AddHook(m)
	g := goSide(a.t, rdb)
	for _, id := range m.red {
		name, first, _ := strings.Cut(id, " ")
		at := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
		var err error
		for tries := 0; err == nil && tries < 3; tries++ {
			err = a.play(g, checks[at], first)
		}
		require.Error(a.t, err, "%s: %s passes. Is %q still in a script?", m.name, id, m.old)
	}
}

// mistake is a change with which stage 6 and Redisson cannot share a lock, and the checks that must
// fail, each with its first side.
type mistake struct {
	name, mode string
	rename     func(keys []any, channel *any) // in the commands of stage 6
	old, new   string                         // in its scripts
	red        []string
}

var mistakes = []mistake{
	{name: "the key of the default layout", mode: single,
		rename: func(keys []any, _ *any) { keys[0] = fmt.Sprintf("lock:{%s}", keys[0]) },
		red:    []string{"exclusion Go", "exclusion Redisson", "counts Redisson", "contention Go"}},
	{name: "a channel that is always in braces", mode: single,
		rename: func(keys []any, channel *any) { *channel = fmt.Sprintf("redisson_lock__channel:{%s}", keys[0]) },
		red:    []string{"names Go"}},
	{name: "another message", mode: single, old: `ARGV[1], "0")`, new: `ARGV[1], "2")`,
		red: []string{"wake-up Go", "force Redisson"}},
	{name: "a count that stays 1 in the hash", mode: single, old: `"HSET", KEYS[1], ARGV[1], ARGV[2]`, new: `"EXISTS", KEYS[1]`,
		red: []string{"counts Go"}},
	{name: "a lease that is ten times as long", mode: single, old: `"PEXPIRE", KEYS[1], ARGV[2]`, new: `"PEXPIRE", KEYS[1], 10 * ARGV[2]`,
		red: []string{"expiry Go"}},
	{name: "a renewal that does nothing", mode: single, old: `"PEXPIRE", KEYS[i]`, new: `"EXISTS", KEYS[i]`,
		red: []string{"renewal Go"}},
	{name: "a renewal that always reports success", mode: single, old: "held == 1 and 1 or 0", new: "1",
		red: []string{"force Go"}},
	{name: "a token in another slot", mode: sharded,
		rename: func(keys []any, _ *any) {
			if len(keys) == 2 {
				keys[1] = fmt.Sprintf("%s:token", keys[0])
			}
		},
		red: []string{"slots Go"}},
	{name: "Redisson's default in a Cluster", mode: sharded,
		red: []string{"wake-up Go", "wake-up Redisson"}},
}

// ProcessHook sends changed scripts and names. It invalidates the hashes, so that each script is sent with
// its source.
func (m mistake) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		switch {
		case args[0] == "EVALSHA":
			args[1] = strings.Repeat("0", 40)
			return next(ctx, cmd)
		case !strings.EqualFold(args[0].(string), "EVAL"):
			return next(ctx, cmd)
		case m.old != "":
			args[1] = strings.ReplaceAll(args[1].(string), m.old, m.new)
		}
		if first := 3 + args[2].(int); m.rename != nil {
			var none any
			channel := &none
			if len(args) > first {
				channel = &args[first]
			}
			before := *channel
			if m.rename(args[3:first], channel); before != nil && !strings.HasPrefix(before.(string), "redisson_lock") {
				*channel = before // it is an owner
			}
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook and DialHook change nothing: no script is sent in a pipeline.
func (mistake) ProcessPipelineHook(h redis.ProcessPipelineHook) redis.ProcessPipelineHook { return h }
func (mistake) DialHook(h redis.DialHook) redis.DialHook                                  { return h }
