package adapters

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// WithScript returns the constructor of a lock for which go-redis sends another Lua script instead of that
// one. Inlined, it would make its caller's package compile the types of go-redis.
//
//go:noinline
func WithScript(newLock world.Constructor, script, instead string) world.Constructor {
	hook := &scriptHook{script, instead}
	return func(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
		clientsOf(p)[0].AddHook(hook)
		return newLock(p, name, lease)
	}
}

// scriptHook is a go-redis hook that replaces a script.
type scriptHook struct{ script, instead string }

func (*scriptHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*scriptHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook replaces the script.
func (s *scriptHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		for i, arg := range cmd.Args() {
			switch arg {
			case s.script:
				cmd.Args()[i] = s.instead
			case redis.NewScript(s.script).Hash():
				cmd.Args()[i] = redis.NewScript(s.instead).Hash()
			}
		}
		return next(ctx, cmd)
	}
}
