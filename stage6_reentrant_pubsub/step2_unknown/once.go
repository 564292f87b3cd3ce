package stage6

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// sender is a client that sends the commands of a lock once, even if its
// MaxRetries is higher: the lock itself decides what a lost reply means.
type sender struct{ redis.UniversalClient }

// once is a command that go-redis does not send again.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// Do sends a command.
func (s sender) Do(ctx context.Context, args ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx, args...)
	_ = s.Process(ctx, once{cmd}) // the command keeps its error
	return cmd
}

// EvalSha runs a script that Redis knows; a [redis.Script] asks for it first.
func (s sender) EvalSha(ctx context.Context, hash string, keys []string, args ...any) *redis.Cmd {
	return s.eval(ctx, "EVALSHA", hash, keys, args)
}

// Eval runs a script; a [redis.Script] asks for it when Redis does not know its hash.
func (s sender) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return s.eval(ctx, "EVAL", source, keys, args)
}

func (s sender) eval(ctx context.Context, command, script string, keys []string, args []any) *redis.Cmd {
	all := []any{command, script, len(keys)}
	for _, key := range keys {
		all = append(all, key)
	}
	return s.Do(ctx, append(all, args...)...)
}
