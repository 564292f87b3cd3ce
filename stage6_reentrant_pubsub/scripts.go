package stage6

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed *.lua
var sources embed.FS

// script is a Lua script: what the command begins with that runs it by the SHA1 by
// which Redis knows it, and by its source.
type script struct{ byHash, bySource []any }

func newScript(file string) script {
	source, err := sources.ReadFile(file)
	if err != nil {
		panic(err) // the compiler has embedded it
	}
	text := string(source)
	return script{[]any{"EVALSHA", redis.NewScript(text).Hash()}, []any{"EVAL", text}}
}

var (
	acquireScript = newScript("acquire.lua")
	countScript   = newScript("count.lua")
	releaseScript = newScript("release.lua")
	renewScript   = newScript("renew.lua")
	forceScript   = newScript("force.lua")
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

// isAnswer tells whether Redis answered with this error: the command did nothing.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// isUnsent tells whether a command never left: there was no connection for it.
func isUnsent(err error) bool {
	var network *net.OpError
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed) ||
		errors.As(err, &network) && network.Op == "dial"
}

// isUnknown tells whether a command that ended with err may have taken effect: the
// network, the context or a hook of the client ended it.
func isUnknown(err error) bool { return err != nil && !isAnswer(err) && !isUnsent(err) }

// isPassing tells whether Redis did not apply a command, and will before long: it has just
// started, runs a long script, or changes its role or its slots.
func isPassing(err error) bool {
	passing := []string{"TRYAGAIN", "LOADING", "CLUSTERDOWN", "BUSY", "READONLY", "NOREPLICAS", "MASTERDOWN"}
	return slices.ContainsFunc(passing, func(code string) bool { return redis.HasErrorPrefix(err, code) })
}

// explain says what an error of Redis means for a lock.
func explain(doing, key string, err error) error {
	if strings.Contains(err.Error(), "WRONGTYPE") { // a script puts its own words before it
		return fmt.Errorf("stage6: %s %s: the key holds no lock of this kind, but something else, such as a lock of another library: %w", doing, key, err)
	}
	if redis.HasErrorPrefix(err, "NOPERM") || strings.Contains(err.Error(), "The user executing the script") {
		return fmt.Errorf("stage6: %s %s: the Redis user lacks a right that the lock needs (docs/final-lock.md lists them): %w", doing, key, err)
	}
	return fmt.Errorf("stage6: %s %s: %w", doing, key, err)
}
