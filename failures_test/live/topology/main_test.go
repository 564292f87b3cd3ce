//go:build live

package topology

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/fleet"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // they mostly wait
	logging.Disable()                   // servers are meant to be away
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := fleet.Running(); left > 0 {
			fmt.Println("redis-server processes that still run:", left)
			code = 1
		}
		os.Exit(code)
	}))
}
