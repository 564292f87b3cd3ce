package stage5_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage5 "lockkata/stage5_watchdog"
)

// Without a watchdog the lease limits the work: when it ends another client can get
// the lock, even if the work is not done. With a watchdog the hold lasts until
// Unlock, or until the process ends.
func ExampleWithoutWatchdog() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage5.NewMutex(rdb, "report:daily", 10*time.Second, stage5.WithoutWatchdog())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the lease is", server.TTL("lock:report:daily"))
	server.FastForward(11 * time.Second) // the work takes longer
	fmt.Println("key left in Redis:", server.Exists("lock:report:daily"))
	fmt.Println(mutex.Unlock(ctx))

	// Output:
	// the lease is 10s
	// key left in Redis: false
	// stage5: lock is not held
}
