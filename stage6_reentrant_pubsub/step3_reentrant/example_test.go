package stage6_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
)

// The holder passes the hold's context to the functions that it calls. With it, Lock of
// the same lock adds a hold.
func ExampleMutex_HoldCount() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "report:daily", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}

	helper := func(ctx context.Context) {
		hold, err := mutex.Lock(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(mutex.HoldCount(hold.Context()))
		fmt.Println("inner unlock:", hold.Unlock())
	}
	hold, err := mutex.Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	helper(hold.Context())
	fmt.Println(mutex.HoldCount(hold.Context()))
	fmt.Println("outer unlock:", hold.Unlock())

	// Output:
	// 2 <nil>
	// inner unlock: <nil>
	// 1 <nil>
	// outer unlock: <nil>
}
