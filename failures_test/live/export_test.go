//go:build live

package live

import (
	"context"

	"lockkata/failures_test/world"
)

// FailsOver starts one redis-server that keeps a replica from each Begin on.
func FailsOver(ctx context.Context) (own world.OwnRedis, end func() error, err error) {
	p, err := start(ctx)
	p.failsOver = true
	return p, p.close, err
}
