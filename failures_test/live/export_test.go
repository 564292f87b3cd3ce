package live

import (
	"context"

	"lockkata/failures_test/world"
)

// Socket starts one redis-server and tells where it answers.
func Socket(ctx context.Context) (addr string, end func() error, err error) {
	p, err := start(ctx)
	if err != nil {
		return "", nil, err
	}
	return p.Addr(), p.close, nil
}

// FailsOver starts one redis-server that keeps a replica from each Begin on.
func FailsOver(ctx context.Context) (own world.OwnRedis, end func() error, err error) {
	p, err := start(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.failsOver = true
	return p, p.close, nil
}
