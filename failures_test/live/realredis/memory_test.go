//go:build live

package realredis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// commander is not a real lock: its TryLock and Unlock send the given commands.
type commander struct {
	rdb      redis.UniversalClient
	before   [][]any
	commands [][]any
	answers  *[]string
}

func (c commander) TryLock(ctx context.Context) (bool, error) {
	for _, command := range c.before {
		if err := c.rdb.Do(ctx, command...).Err(); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c commander) Lock(context.Context) error { return nil }

func (c commander) Unlock(ctx context.Context) error {
	for _, command := range c.commands {
		answer := "done"
		if err := c.rdb.Do(ctx, command...).Err(); err != nil {
			answer, _, _ = strings.Cut(err.Error(), " ")
		}
		*c.answers = append(*c.answers, answer)
	}
	return nil
}

func TestFullRedisRefusesTheSameCommandsAsTheWorld(t *testing.T) {
	const key = "lock:order:1001"
	commands := [][]any{
		{"GET", key}, {"SET", key, "b"}, {"SETNX", key, "b"}, {"HSET", key + ":h", "f", "1"}, {"INCR", key + ":n"},
		{"PEXPIRE", key, "1000"}, {"PUBLISH", "freed", "0"}, {"TIME"}, {"EXISTS", key},
		{"EVAL", `return redis.call("GET", KEYS[1])`, "1", key},
		{"EVAL", `redis.call("TIME") redis.call("PUBLISH", "freed", "0") return redis.call("SET", KEYS[1], "c")`, "1", key},
		{"EVAL", `redis.call("DEL", KEYS[1]) return redis.call("SET", KEYS[1], "c")`, "1", key},
		{"EVAL", `return redis.call("PEXPIRE", KEYS[1], 1000)`, "1", key},
		{"EVAL", `return redis.call("DEL", KEYS[1])`, "1", key},
		{"DEL", key},
	}
	played := func(play func(world.Config, func(*world.World)) (*trace.Trace, error)) []string {
		var answers []string
		config := world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
			return commander{rdb, [][]any{{"SET", key, "a"}}, commands, &answers}, nil
		})}
		_, err := play(config, func(w *world.World) {
			a := w.Client("A")
			a.TryLock()
			w.FillMemory()
			a.Unlock()
		})
		require.NoError(t, err)
		return answers
	}
	own := startProcess(t)
	real := played(own.Run)
	embedded := played(func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
		return world.Run(t, c, scenario)
	})
	require.Equal(t, []string{
		"done", "OOM", "OOM", "OOM", "OOM",
		"done", "done", "done", "done",
		"done", "OOM", "done", "done", "done",
		"done",
	}, real)
	require.Equal(t, real, embedded)
	require.Equal(t, "0", clientOf(t, own).ConfigGet(t.Context(), "maxmemory").Val()["maxmemory"], "the limit is removed")
}

func TestRedisItselfEvictsTheKey(t *testing.T) {
	own := startProcess(t)
	var answers []string
	config := world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
		return commander{rdb, [][]any{{"SET", "lock:order:1001", "a", "PX", "1000"}}, nil, &answers}, nil
	})}
	var effects []trace.Effect
	tr, err := own.Run(config, func(w *world.World) {
		w.Client("A").TryLock()
		w.Evict()
	})
	require.NoError(t, err)
	for _, e := range tr.Events {
		if e.Kind == trace.Server {
			effects = append(effects, e.Effects...)
		}
	}
	require.Len(t, effects, 1)
	require.Equal(t, trace.Removed, effects[0].Kind)
	rdb := clientOf(t, own)
	require.Contains(t, rdb.Info(t.Context(), "stats").Val(), "evicted_keys:1\r\n")
	require.NoError(t, rdb.Set(t.Context(), "another", "1", 0).Err(), "the limit is removed")
}
