package edits

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// InScripts returns the lock with an edit of a Lua script: go-redis sends the edited script. Any
// other lock is returned unchanged. text is the edit's file; lock.Scripts must be set.
func (e Edit) InScripts(lock failures.Subject, text string) (failures.Subject, error) {
	for _, script := range lock.Scripts {
		if !strings.Contains(text, script) || !strings.Contains(script, e.Old) {
			continue
		}
		edited, err := e.Apply(script)
		if err != nil {
			return lock, err
		}
		swap := swapped{script, edited}
		lock.New = swap.in(lock.New)
		variants := map[failures.Variant]world.Constructor{}
		for name, create := range lock.Variants {
			variants[name] = swap.in(create)
		}
		lock.Variants = variants
		lock.SkipFrames = append(slices.Clip(lock.SkipFrames), reflect.TypeFor[swapped]().PkgPath()+".")
	}
	return lock, nil
}

// swapped is a go-redis hook that replaces the script that a lock sends.
type swapped struct{ old, new string }

func (s swapped) in(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		rdb.AddHook(s)
		return create(rdb, name, lease)
	}
}

func (s swapped) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s swapped) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook replaces the script.
func (s swapped) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		for i, arg := range cmd.Args() {
			switch arg {
			case s.old:
				cmd.Args()[i] = s.new
			case redis.NewScript(s.old).Hash():
				cmd.Args()[i] = redis.NewScript(s.new).Hash()
			}
		}
		return next(ctx, cmd)
	}
}
