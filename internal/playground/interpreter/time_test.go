package interpreter_test

import (
	"fmt"
	"syscall"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
)

func userMS() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano()/1e6 + u.Stime.Nano()/1e6
}

func TestTime(t *testing.T) {
	for _, id := range []string{"3", "5", "6.1", "6.5"} {
		c := columns.Must(id)
		best, loads, best2 := int64(1<<40), int64(0), int64(1<<40)
		for range 5 {
			begun := userMS()
			_, s := load(t, c)
			loads = userMS() - begun
			begun = userMS()
			for _, f := range failures.All {
				failures.Run(t, f, s)
			}
			best = min(best, userMS()-begun)
			begun = userMS()
			for _, f := range failures.All {
				failures.Run(t, f, c.Subject)
			}
			best2 = min(best2, userMS()-begun)
		}
		fmt.Println(id, "load", loads, "ms, column", best, "ms user+sys; compiled", best2)
	}
}
