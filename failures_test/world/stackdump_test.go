package world

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctionOfAGoroutineHasNoArguments(t *testing.T) {
	for printed, name := range map[string]string{
		"(*Mutex).TryLock(0xc0000b4000, {0x9d3f28, 0xc000014180})": "TryLock",
		"(*Mutex).TryLock(...)":                             "TryLock",
		"(*Mutex).start.func1()":                            "start",
		"poll({0x9d3f28?, 0xc000014180?}, {0x8a1b2c, 0x5})": "poll",
	} {
		all := goroutinesIn("goroutine 9 [sleep, synctest bubble 1]:\nexample.com/mine."+printed+"\n\t/src/mine/mutex.go:41 +0x1d\n", "example.com/mine")
		require.Len(t, all, 1)
		require.Equal(t, name, all[0].Function, printed)
		require.Equal(t, "mine/mutex.go:41", all[0].Line)
	}
}
