package stage6_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// atOnce is how many tests run side by side: they mostly wait.
const atOnce = 16

// TestMain asks at the end that nothing is left: no goroutine and no process.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", strconv.Itoa(atOnce)) // it exists in every test program
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left, err := exec.Command("pgrep", "-l", "-P", strconv.Itoa(os.Getpid()), "redis-server").Output(); err == nil {
			fmt.Fprintf(os.Stderr, "still running: %s", left)
			code = 1
		}
		os.Exit(code)
	}))
}
