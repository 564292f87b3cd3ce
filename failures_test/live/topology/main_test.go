package topology_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"lockkata/failures_test/redisserver"
)

// started are all servers, so that TestMain can look whether one is left.
var started struct {
	sync.Mutex
	servers []*redisserver.Server
}

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		fmt.Printf("%d redis-server processes started\n", len(started.servers))
		for _, s := range started.servers {
			if err := s.Process().Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
				fmt.Println("still running: redis-server", s.Process().Pid)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// silent keeps go-redis from reporting every server that is away: they are meant
// to be.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// start starts a redis-server that ends with the test.
func start(t *testing.T, config redisserver.Config) *redisserver.Server {
	t.Helper()
	s := redisserver.ForTest(t, config)
	started.Lock()
	started.servers = append(started.servers, s)
	started.Unlock()
	return s
}
