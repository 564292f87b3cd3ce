package main

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func openStage6(kind string, s settings, t *traffic) (*locker, error) {
	rdb := goRedis(s.Addr, t)
	var pipeline *redis.Client
	if kind == pipedKind {
		pipeline = goRedis(s.Addr, t)
		auto, err := pipeline.AutoPipeline()
		if err != nil {
			return nil, err
		}
		rdb.AddHook(throughPipeline{auto})
	}
	var options []stage6.Option
	if s.Lease > 0 {
		options = append(options, stage6.WithWatchdogTimeout(s.Lease))
	}
	svc, err := stage6.NewService(rdb, options...)
	if err != nil {
		return nil, err
	}
	return &locker{
		pair: func(name string) func(context.Context) error {
			m, err := svc.Mutex(name)
			return func(ctx context.Context) error {
				if err != nil {
					return err
				}
				hold, err := m.Lock(ctx)
				if err != nil {
					return err
				}
				return hold.Unlock()
			}
		},
		lock: func(ctx context.Context, name string) (held, error) {
			m, err := svc.Mutex(name)
			if err != nil {
				return held{}, err
			}
			hold, err := m.Lock(ctx)
			if err != nil {
				return held{}, err
			}
			return held{hold.Unlock, hold.Context().Err, hold.Token()}, nil
		},
		close: func() error {
			errs := []error{svc.Close(), rdb.Close()}
			if pipeline != nil {
				errs = append(errs, pipeline.Close())
			}
			return errors.Join(errs...)
		},
	}, nil
}

// throughPipeline is a hook that sends the commands of one client through the
// auto-pipeliner of another, to see what go-redis's auto-pipelining would be worth. A
// service refuses an AutoPipeliner: it ignores the deadlines of contexts.
type throughPipeline struct{ auto *redis.AutoPipeliner }

// DialHook changes nothing.
func (throughPipeline) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook sends the command through the auto-pipeliner.
func (p throughPipeline) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return p.auto.Process(ctx, cmd) }
}

// ProcessPipelineHook changes nothing.
func (throughPipeline) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
