package judge

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const dump = `goroutine 7 [running]:
lockkata/internal/kata/judge.ofLock()
	/repo/internal/kata/judge/goroutines.go:46 +0x2b

goroutine 31 [select (durable), synctest bubble 4]:
lockkata/failures_test/world.(*wire).Read(0xc0001, {0xc0002, 0x400, 0x400})
	/repo/failures_test/world/wire.go:120 +0x1c5
github.com/redis/go-redis/v9.(*baseClient)._process(0xc0003, {0x1, 0x2})
	/mod/redis.go:700 +0x44
lockkata/internal/kata/locks/mylock.(*Mutex).TryLock(0xc0004, {0x5, 0x6})
	/repo/internal/kata/locks/mylock/mutex.go:69 +0x125
lockkata/internal/kata/locks/mylock.(*Mutex).Lock(0xc0004, {0x5, 0x6})
	/repo/internal/kata/locks/mylock/mutex.go:85 +0x45
created by lockkata/failures_test/world.(*Client).begin in goroutine 29
	/repo/failures_test/world/call.go:60 +0x21

goroutine 40 [sleep (durable), 3 minutes, synctest bubble 4]:
time.Sleep(0x3b9aca00)
	/go/src/runtime/time.go:363 +0x130
lockkata/internal/kata/locks/mylock.(*Mutex).TryLock.func1()
	/repo/internal/kata/locks/mylock/mutex.go:74 +0x1d
created by lockkata/internal/kata/locks/mylock.(*Mutex).TryLock in goroutine 31
	/repo/internal/kata/locks/mylock/mutex.go:72 +0x105
`

func TestStacksAreReadAsTheRuntimePrintsThem(t *testing.T) {
	require.Equal(t, []goroutine{
		{state: "select", inner: frame{"TryLock", "mutex.go", 69}, redis: true},
		{state: "sleep", inner: frame{"TryLock", "mutex.go", 74}, created: frame{"TryLock", "mutex.go", 72}},
	}, parse(dump))
}
