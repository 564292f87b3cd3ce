package stage5_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage5 "lockkata/stage5_watchdog"
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
		mutex, err := stage5.NewMutex(first, "order:1001", 30*time.Second)
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
			err = errors.Join(err, mutex.Unlock(ctx)) // ErrNotHeld: the lock was lost before
		}()

		other, err := stage5.NewMutex(second, "order:1001", 30*time.Second)
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
		mutex, err := stage5.NewMutex(rdb, "order:1001", 30*time.Second) // one for each owner
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
			defer mutex.Unlock(ctx) // without it the watchdog renews for as long as the program runs
			fmt.Println(worker, "has the lock for", server.TTL("lock:order:1001"), "and longer if it takes longer")
		}
	}

	// Output:
	// A has the lock for 30s and longer if it takes longer
	// B comes back later
}

// Unlock is the first to tell a client that it lost the lock: here nothing came
// through to Redis for longer than the lease. Somebody else may have worked
// meanwhile: check the work, or take it back.
func ExampleMutex_Unlock() {
	server := startRedis()
	defer server.Close()
	rdb := redisClient(server)
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage5.NewMutex(rdb, "order:1001", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	server.FastForward(31 * time.Second) // no renewal came through
	err = mutex.Unlock(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, stage5.ErrNotHeld))

	// Output:
	// stage5: lock is not held
	// true
}

// Without a watchdog the lease is a bound on the work: after it somebody else gets
// the lock, whether the work is done or not.
func ExampleWithoutWatchdog() {
	server := startRedis()
	defer server.Close()
	rdb := redisClient(server)
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
		MaxRetries:            -1,   // a repeated SET NX would be refused by the key it has just written
	})
}
