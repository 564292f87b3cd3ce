package stage4_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage4 "lockkata/stage4_lua_unlock"
)

// The lease limits the work. Work whose context has the lease as its timeout, counted
// from before Lock, stops before another client can get the lock.
func Example() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()

	const lease = 30 * time.Second
	mutex, err := stage4.NewMutex(rdb, "report:daily", lease)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lease)
	defer cancel()
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	deadline, _ := ctx.Deadline()
	leaseEnd := time.Now().Add(server.TTL("lock:report:daily"))
	fmt.Println("the work stops before the lease ends:", deadline.Before(leaseEnd))

	server.FastForward(lease) // miniredis does not use the real clock
	err = mutex.Unlock(context.WithoutCancel(ctx))
	fmt.Println("another client may hold the lock:", errors.Is(err, stage4.ErrNotHeld))

	// Output:
	// the work stops before the lease ends: true
	// another client may hold the lock: true
}
