package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub/step1_told"
)

// Work that uses the hold's context stops when the hold is lost.
func ExampleHold_Context() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage6.NewMutex(rdb, "report:daily", 3*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	hold, err := mutex.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	server.Del("lock:report:daily") // an administrator, an eviction, a failover
	<-hold.Context().Done()         // the next renewal finds no key
	fmt.Println("the work stops:", context.Cause(hold.Context()))
	fmt.Println("unlock reports it too:", errors.Is(hold.Unlock(ctx), stage6.ErrLost))

	// Output:
	// the work stops: stage6: hold is lost
	// unlock reports it too: true
}
