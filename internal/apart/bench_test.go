package apart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEndlessRecursionNamesTheRecursiveCall(t *testing.T) {
	stack := "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow\n\ngoroutine 9 [running]:\n"
	for _, at := range []string{"51", "53", "53"} {
		stack += "locks/lock0/mylock.(*Mutex).TryLock(...)\n\t/go/locks/lock0/mylock/mutex.go:" + at + " +0x1d\n"
	}
	_, line := crash(stack, "locks/lock0/mylock")
	require.Equal(t, "mylock/mutex.go:53", line)
	_, line = crash(strings.ReplaceAll(stack, "goroutine stack exceeds", "something else"), "locks/lock0/mylock")
	require.Equal(t, "mylock/mutex.go:51", line)
}
