package stage1_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage1 "lockkata/stage1_setnx_expire"
)

// One client takes the lock, works and unlocks. Another tries meanwhile.
func Example() {
	server, rdb := startRedis()
	defer server.Close()
	defer rdb.Close()

	if err := createOrder(context.Background(), rdb); err != nil {
		fmt.Println(err)
	}
	fmt.Println("key left in Redis:", server.Exists("lock:order:1001"))

	// Output:
	// first: creates the order
	// second: tries again later
	// key left in Redis: false
}

func createOrder(ctx context.Context, rdb *redis.Client) (err error) {
	mutex, err := stage1.NewMutex(rdb, "order:1001", 30*time.Second)
	if err != nil {
		return err
	}
	if err := mutex.Lock(ctx); err != nil {
		return err
	}
	defer func() {
		// ctx may have ended by now, and Unlock has to be sent nevertheless.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, mutex.Unlock(ctx))
	}()
	fmt.Println("first: creates the order")
	return tryToo(ctx, rdb)
}

// tryToo makes one attempt. A refusal is no error; after an error the attempt may have taken effect.
func tryToo(ctx context.Context, rdb *redis.Client) error {
	mutex, err := stage1.NewMutex(rdb, "order:1001", 30*time.Second) // one for each owner
	if err != nil {
		return err
	}
	held, err := mutex.TryLock(ctx)
	if err == nil && !held {
		fmt.Println("second: tries again later")
	}
	return err
}

// startRedis starts a Redis inside this program, and a client with the options that
// matter to a lock. A service only needs the address of its Redis.
func startRedis() (*miniredis.Miniredis, *redis.Client) {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	return server, redis.NewClient(&redis.Options{
		Addr:                  server.Addr(),
		ContextTimeoutEnabled: true, // without it, a command outlives its context's deadline
		MaxRetries:            -1,   // a repeated SETNX would be refused by the key it has just written
	})
}
