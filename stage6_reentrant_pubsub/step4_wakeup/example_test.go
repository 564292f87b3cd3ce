package stage6_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
)

// A waiter subscribes, and the Unlock that frees the lock wakes it.
func ExampleMutex_Lock() {
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
	first, err := mutex.Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}

	served := make(chan error)
	go func() {
		second, err := mutex.Lock(context.Background())
		if err == nil {
			err = second.Unlock()
		}
		served <- err
	}()
	fmt.Println("first:", first.Unlock())
	fmt.Println("second:", <-served)

	// Output:
	// first: <nil>
	// second: <nil>
}
