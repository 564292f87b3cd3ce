package stage5_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage5 "lockkata/stage5_watchdog"
)

// The work takes longer than the lease. The watchdog renews the lease every third of it,
// so the key is still there.
func Example() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()
	replied := make(replies, 1)
	rdb.AddHook(replied)

	const lease = 600 * time.Millisecond
	ctx := context.Background()
	mutex, err := stage5.NewMutex(rdb, "report:daily", lease)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the lease is", server.TTL("lock:report:daily"))
	for range 4 {
		server.FastForward(lease / 3) // miniredis does not use the real clock
		for server.TTL("lock:report:daily") < lease {
			<-replied // the watchdog's own time is real
		}
		fmt.Println("200ms later the watchdog has renewed it:", server.TTL("lock:report:daily"))
	}
	if err := mutex.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("key left in Redis:", server.Exists("lock:report:daily"))

	// Output:
	// the lease is 600ms
	// 200ms later the watchdog has renewed it: 600ms
	// 200ms later the watchdog has renewed it: 600ms
	// 200ms later the watchdog has renewed it: 600ms
	// 200ms later the watchdog has renewed it: 600ms
	// key left in Redis: false
}

// replies gets a value after each command that Redis has answered. It is a redis.Hook.
type replies chan struct{}

func (r replies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		select {
		case r <- struct{}{}:
		default: // an earlier value waits
		}
		return err
	}
}

func (replies) DialHook(next redis.DialHook) redis.DialHook { return next }

func (replies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

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
