package stage3_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage3 "lockkata/stage3_owner_value"
)

// Unlock returns ErrNotHeld when the lease ended before the work did. Another
// client may have worked in the meantime: check the work, or undo it.
func ExampleMutex_Unlock() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage3.NewMutex(rdb, "order:1001", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	server.FastForward(31 * time.Second) // the work takes longer than the lease
	err = mutex.Unlock(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, stage3.ErrNotHeld))

	// Output:
	// stage3: lock is not held
	// true
}
