package stage2_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage2 "lockkata/stage2_set_nx_ex"
)

// While a client holds the lock, Redis has a key with a lease. Unlock deletes it.
func Example() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	defer rdb.Close()

	ctx := context.Background()
	mutex, err := stage2.NewMutex(rdb, "order:1001", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := mutex.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("in Redis:", rdb.Get(ctx, "lock:order:1001").Val(), "for", server.TTL("lock:order:1001"))
	fmt.Println("the order is created")
	if err := mutex.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("key left in Redis:", server.Exists("lock:order:1001"))

	// Output:
	// in Redis: locked for 30s
	// the order is created
	// key left in Redis: false
}

// lockScript creates the key and gives it its lease.
//
// KEYS[1] the lock's key
// ARGV[1] the value
// ARGV[2] the lease in milliseconds
//
// Returns 1 if the lock was taken, 0 if another client holds it.
var lockScript = redis.NewScript(`-- lock
if redis.call("SETNX", KEYS[1], ARGV[1]) == 1 then
	redis.call("PEXPIRE", KEYS[1], ARGV[2])
	return 1
end
return 0
`)

// The other way to make SETNX and PEXPIRE one step is a Lua script: Redis runs
// nothing else until it ends, and a client that dies cannot stop it half-way.
//
// SET NX PX is simpler: it is one command, with no script for Redis to load, to
// forget, or to leave half done when PEXPIRE refuses its argument.
func Example_luaScript() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()

	ctx := context.Background()
	lease := 30 * time.Second
	for _, worker := range []string{"A", "B"} {
		held, err := lockScript.Run(ctx, rdb, []string{"lock:order:1001"}, "locked", lease.Milliseconds()).Bool()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(worker, "has the lock:", held)
	}
	fmt.Println("the lease:", server.TTL("lock:order:1001"))

	// Output:
	// A has the lock: true
	// B has the lock: false
	// the lease: 30s
}
