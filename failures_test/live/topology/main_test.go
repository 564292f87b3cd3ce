//go:build live

package topology_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/fleet"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := fleet.Running(); left > 0 {
			fmt.Println("redis-server processes that still run:", left)
			code = 1
		}
		os.Exit(code)
	}))
}

// silent keeps go-redis from reporting every server that is away: they are meant
// to be.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
