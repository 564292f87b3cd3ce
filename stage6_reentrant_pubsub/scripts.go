package stage6

import (
	"context"
	_ "embed"
	"slices"
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

// script is a Lua script: what the command begins with that runs it by the SHA1 by
// which Redis knows it, and by its source.
type script struct{ byHash, bySource []any }

func newScript(source string) script {
	return script{[]any{"EVALSHA", redis.NewScript(source).Hash()}, []any{"EVAL", source}}
}

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

// operands are what a script gets: how many keys, the keys, the first arguments.
// Those of a lock are always the same, and made once.
type operands []any

func withKeys(keys ...any) operands { return append(operands{len(keys)}, keys...) }

// run executes a script, by its hash if Redis knows it.
func run(ctx context.Context, rdb redis.UniversalClient, s script, on operands, args ...any) *redis.Cmd {
	form := s.byHash
	cmd := send(ctx, rdb, form, on, args)
	for range tryAgainTimes {
		switch {
		case cmd.Err() == nil:
			return cmd
		case redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT"):
			form = s.bySource // for good: a node that refuses the script does not learn it
		case redis.HasErrorPrefix(cmd.Err(), "TRYAGAIN"):
			if !pause(ctx, tryAgainPause) {
				return cmd
			}
		default:
			return cmd
		}
		cmd = send(ctx, rdb, form, on, args)
	}
	return cmd
}

func send(ctx context.Context, rdb redis.UniversalClient, script []any, on operands, args []any) *redis.Cmd {
	cmd := redis.NewCmd(ctx, slices.Concat(script, on, args)...)
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
