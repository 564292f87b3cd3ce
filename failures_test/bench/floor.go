package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// openFloor is what no lock with these scripts over go-redis can be cheaper than:
// the two commands of one lock and unlock of stage 6, recorded, and sent again by
// plain EvalSha calls.
func openFloor(s settings) (*locker, error) {
	rdb := goRedis(s.Addr, nil)
	return &locker{
		pair: func(name string) func(context.Context) error {
			sent, err := recordPair(s, name)
			return func(ctx context.Context) error {
				if err != nil {
					return err
				}
				for _, c := range sent {
					if err := rdb.EvalSha(ctx, c.hash, c.keys, c.args...).Err(); err != nil {
						return err
					}
				}
				return nil
			}
		},
		close: rdb.Close,
	}, nil
}

// scriptCall is one EVALSHA.
type scriptCall struct {
	hash string
	keys []string
	args []any
}

// recordPair locks and unlocks with stage 6, twice so that the server knows the
// scripts, and returns the commands of the second time.
func recordPair(s settings, name string) ([]scriptCall, error) {
	rdb := goRedis(s.Addr, nil)
	defer rdb.Close()
	r := &recorder{}
	rdb.AddHook(r)
	svc, err := stage6.NewService(rdb)
	if err != nil {
		return nil, err
	}
	defer svc.Close()
	m, err := svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	for range 2 {
		r.sent = nil
		hold, err := m.Lock(context.Background())
		if err != nil {
			return nil, err
		}
		if err := hold.Unlock(); err != nil {
			return nil, err
		}
	}
	calls := make([]scriptCall, len(r.sent))
	for i, args := range r.sent {
		if calls[i], err = readCall(args); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

var errNoCall = errors.New("bench: stage 6 sent something else than EVALSHA")

// readCall reads EVALSHA hash number-of-keys keys… arguments….
func readCall(args []any) (scriptCall, error) {
	if len(args) < 3 || args[0] != "EVALSHA" && args[0] != "evalsha" {
		return scriptCall{}, fmt.Errorf("%w: %v", errNoCall, args)
	}
	keys, ok := args[2].(int)
	if !ok || len(args) < 3+keys {
		return scriptCall{}, fmt.Errorf("%w: %v", errNoCall, args)
	}
	c := scriptCall{hash: fmt.Sprint(args[1]), args: args[3+keys:]}
	for _, key := range args[3 : 3+keys] {
		c.keys = append(c.keys, fmt.Sprint(key))
	}
	return c, nil
}

// recorder is a hook that keeps what is sent.
type recorder struct{ sent [][]any }

// DialHook changes nothing.
func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook keeps the command.
func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.sent = append(r.sent, cmd.Args())
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook changes nothing.
func (*recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
