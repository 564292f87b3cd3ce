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

// Two clients want to work on one order. The first takes the lock, works and
// unlocks; the second is told no while the first is inside.
func Example() {
	server := startRedis()
	defer server.Close()
	first, second := redisClient(server), redisClient(server)
	defer first.Close()
	defer second.Close()

	work := func(ctx context.Context) (err error) {
		mutex, err := stage1.NewMutex(first, "order:1001", 30*time.Second)
		if err != nil {
			return err
		}
		if err := mutex.Lock(ctx); err != nil {
			return err
		}
		defer func() {
			// ctx may be over by now, and Unlock has to be sent all the same.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			err = errors.Join(err, mutex.Unlock(ctx))
		}()

		other, err := stage1.NewMutex(second, "order:1001", 30*time.Second)
		if err != nil {
			return err
		}
		held, err := other.TryLock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("first: creates the order")
		fmt.Println("second: has the lock:", held)
		return nil
	}
	if err := work(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("key left in Redis:", server.Exists("lock:order:1001"))

	// Output:
	// first: creates the order
	// second: has the lock: false
	// key left in Redis: false
}

// TryLock says at once whether it got the lock. No is not an error; an error
// means that the attempt may or may not have taken effect.
func ExampleMutex_TryLock() {
	server := startRedis()
	defer server.Close()
	rdb := redisClient(server)
	defer rdb.Close()

	ctx := context.Background()
	for _, worker := range []string{"A", "B"} {
		mutex, err := stage1.NewMutex(rdb, "order:1001", 30*time.Second) // one for each owner
		if err != nil {
			fmt.Println(err)
			return
		}
		held, err := mutex.TryLock(ctx)
		switch {
		case err != nil:
			fmt.Println(worker, "cannot tell:", err)
		case !held:
			fmt.Println(worker, "comes back later")
		default:
			fmt.Println(worker, "has the lock for", server.TTL("lock:order:1001"))
		}
	}

	// Output:
	// A has the lock for 30s
	// B comes back later
}

// Unlock lets the next one in.
func ExampleMutex_Unlock() {
	server := startRedis()
	defer server.Close()
	rdb := redisClient(server)
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage1.NewMutex(rdb, "order:1001", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked:", server.Exists("lock:order:1001"))
	if err := mutex.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked:", server.Exists("lock:order:1001"))

	// Output:
	// locked: true
	// locked: false
}

// startRedis starts a Redis inside this program. A service has one elsewhere, and
// needs only its address.
func startRedis() *miniredis.Miniredis {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	return server
}

// redisClient has the options that matter to a lock.
func redisClient(server *miniredis.Miniredis) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:                  server.Addr(),
		ContextTimeoutEnabled: true, // without it, a command outlives its context's deadline
		MaxRetries:            -1,   // a repeated SETNX would be refused by the key it has just written
	})
}
