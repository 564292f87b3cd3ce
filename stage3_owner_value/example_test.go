package stage3_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	stage3 "lockkata/stage3_owner_value"
)

// The key's value is the owner, a new UUID for each hold.
func Example() {
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
	var owners []string
	for _, work := range []string{"the order is created", "the order is paid"} {
		if err := mutex.Lock(ctx); err != nil {
			fmt.Println(err)
			return
		}
		owners = append(owners, rdb.Get(ctx, "lock:order:1001").Val())
		fmt.Println(work)
		if err := mutex.Unlock(ctx); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("in Redis was a UUID:", uuid.Validate(owners[0]) == nil)
	fmt.Println("then another one:", uuid.Validate(owners[1]) == nil && owners[1] != owners[0])
	fmt.Println("key left in Redis:", server.Exists("lock:order:1001"))

	// Output:
	// the order is created
	// the order is paid
	// in Redis was a UUID: true
	// then another one: true
	// key left in Redis: false
}

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
