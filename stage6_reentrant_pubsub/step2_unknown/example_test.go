package stage6_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub/step2_unknown"
)

// A deferred Unlock frees the lock, even when the caller's context has ended.
func ExampleHold_Unlock() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	defer rdb.Close()

	mutex, err := stage6.NewMutex(rdb, "report:daily", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hold, err := mutex.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	cancel() // the request ends before the work
	<-hold.Context().Done()
	fmt.Println("unlock:", hold.Unlock())
	fmt.Println("key left in Redis:", server.Exists("lock:report:daily"))

	// Output:
	// unlock: <nil>
	// key left in Redis: false
}
