package stage6

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed acquire.lua
var acquireSource string

//go:embed count.lua
var countSource string

//go:embed release.lua
var releaseSource string

//go:embed renew.lua
var renewSource string

//go:embed force.lua
var forceSource string

// script is a Lua script and the SHA1 by which Redis knows it.
type script struct{ source, hash string }

func newScript(source string) script { return script{source, redis.NewScript(source).Hash()} }

var (
	acquireScript = newScript(acquireSource)
	countScript   = newScript(countSource)
	releaseScript = newScript(releaseSource)
	renewScript   = newScript(renewSource)
	forceScript   = newScript(forceSource)
)

// once is a command that go-redis sends once, whatever the client's MaxRetries:
// a lock decides itself what a lost reply means.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// How often, and after what pause, a command is sent again that a Cluster says it
// did not apply because a slot is on its way to another node.
const (
	tryAgainTimes = 5
	tryAgainPause = 20 * time.Millisecond
)

// run executes a script, by its hash if Redis knows it.
func run(ctx context.Context, rdb redis.UniversalClient, s script, keys []string, args ...any) *redis.Cmd {
	cmd := send(ctx, rdb, "EVALSHA", s.hash, keys, args)
	for range tryAgainTimes {
		switch {
		case redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT"):
			cmd = send(ctx, rdb, "EVAL", s.source, keys, args)
		case redis.HasErrorPrefix(cmd.Err(), "TRYAGAIN"):
			if !pause(ctx, tryAgainPause) {
				return cmd
			}
			cmd = send(ctx, rdb, "EVALSHA", s.hash, keys, args)
		default:
			return cmd
		}
	}
	return cmd
}

// runFreeing executes a script that frees the lock and wakes who waits for it.
// While a slot of a Cluster migrates, the keys of the directed one cannot be used
// together: then the lock is freed all the same, and who waits for it looks when
// its lease would be over.
func runFreeing(ctx context.Context, m *Mutex, plain, directed script, args ...any) (bool, error) {
	s := m.svc
	args = append([]any{m.channel, s.publish}, args...)
	if s.directed {
		freed, err := run(ctx, s.rdb, directed, []string{m.key, m.waiters()}, args...).Bool()
		if !redis.HasErrorPrefix(err, "TRYAGAIN") {
			return freed, err
		}
	}
	return run(ctx, s.rdb, plain, []string{m.key}, args...).Bool()
}

func send(ctx context.Context, rdb redis.UniversalClient, name, script string, keys []string, args []any) *redis.Cmd {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, name, script, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	_ = rdb.Process(ctx, once{cmd}) // the command keeps its error
	return cmd
}

// pause waits for d and tells whether ctx was not done before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
