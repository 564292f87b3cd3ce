package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// One service for each process, one mutex for each thing that is protected, one
// hold for each Lock. The work gets the hold's context.
func Example() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	work := func(ctx context.Context) (err error) {
		m, err := svc.Mutex("order:1001")
		if err != nil {
			return err
		}
		hold, err := m.Lock(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, hold.Unlock()) }() // ErrLost: the lock ended before the work
		return createOrder(hold.Context())
	}
	if err := work(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("key left in Redis:", server.Exists("lock:{order:1001}"))

	// Output:
	// the order is created
	// key left in Redis: false
}

func createOrder(ctx context.Context) error {
	fmt.Println("the order is created")
	return ctx.Err()
}

// TryLock does not wait. ErrLocked means that the lock is held; after any other error it is unknown.
func ExampleMutex_TryLock() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "report:daily")

	ctx := context.Background()
	for _, worker := range []string{"A", "B"} {
		hold, err := m.TryLock(ctx)
		switch {
		case errors.Is(err, stage6.ErrLocked):
			fmt.Println(worker, "leaves it to the holder")
		case err != nil:
			fmt.Println(worker, "cannot tell:", err)
		default:
			defer hold.Unlock()
			fmt.Println(worker, "writes the report")
		}
	}

	// Output:
	// A writes the report
	// B leaves it to the holder
}

// Do is Lock, work and Unlock in one call. A panic in the work releases the lock as well.
func ExampleMutex_Do() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	err := mustMutex(svc, "order:1001").Do(context.Background(), func(context.Context) error {
		return errors.New("the order has no items")
	})
	fmt.Println(err)
	fmt.Println("key left in Redis:", server.Exists("lock:{order:1001}"))

	// Output:
	// the order has no items
	// key left in Redis: false
}

// A function that takes the lock can be called by a holder of the lock: the
// context carries the hold, and the owner's count goes up.
func ExampleMutex_Lock_reentry() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")

	addItem := func(ctx context.Context) error {
		return m.Do(ctx, func(ctx context.Context) error {
			count, err := m.HoldCount(ctx)
			fmt.Println("holds:", count)
			return err
		})
	}
	err := m.Do(context.Background(), func(ctx context.Context) error {
		return addItem(ctx) // with context.Background() it would wait for itself
	})
	if err != nil {
		fmt.Println(err)
	}

	// Output:
	// holds: 2
}

// A caller that needs several locks takes them in the same order everywhere, or two
// callers will wait for each other. The context goes from lock to lock: it ends
// when any of them is lost.
func ExampleMutex_Lock_several() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	transfer := func(ctx context.Context, accounts ...string) error {
		slices.Sort(accounts) // the same order everywhere
		for _, account := range accounts {
			hold, err := mustMutex(svc, account).Lock(ctx)
			if err != nil {
				return err
			}
			defer hold.Unlock() // the last one first
			ctx = hold.Context()
			fmt.Println("holds", account)
		}
		return ctx.Err()
	}
	fmt.Println(transfer(context.Background(), "account:7", "account:3"))

	// Output:
	// holds account:3
	// holds account:7
	// <nil>
}

// A fixed lease ends by itself, whether the work is done or not.
func ExampleLease() {
	server, svc := startService(stage6.WithWatchdogTimeout(600 * time.Millisecond))
	defer server.Close()
	defer svc.Close()

	hold := mustLock(svc, "cache:prices", stage6.Lease(10*time.Second))
	server.FastForward(10 * time.Second) // miniredis does not use the real clock
	<-hold.Context().Done()              // the watchdog looks at the key every 200 ms
	fmt.Println(context.Cause(hold.Context()))
	fmt.Println(hold.Unlock())

	// Output:
	// stage6: hold is lost
	// stage6: hold is lost
}

// These methods describe a lock. IsHeld and HoldCount are about the owner that the
// context carries; IsLocked and RemainingTTL are about any owner.
func ExampleMutex_HoldCount() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")

	ask := func(who string, ctx context.Context) {
		locked, err1 := m.IsLocked(ctx)
		count, err2 := m.HoldCount(ctx)
		left, err3 := m.RemainingTTL(ctx)
		if err := errors.Join(err1, err2, err3); err != nil {
			fmt.Println(err)
		}
		fmt.Println(who, "locked:", locked, "held:", m.IsHeld(ctx), "count:", count, "lease left:", left > 0)
	}
	hold := mustLock(svc, "order:1001")
	ask("the holder: ", hold.Context())
	ask("a stranger: ", context.Background())
	_ = hold.Unlock() // the next line shows whether it worked
	ask("afterwards: ", context.Background())

	// Output:
	// the holder:  locked: true held: true count: 1 lease left: true
	// a stranger:  locked: true held: false count: 0 lease left: true
	// afterwards:  locked: false held: false count: 0 lease left: false
}

// An administrator frees a lock whose holder is stuck. The holder learns of it at its next
// renewal or Unlock; until then two clients may work at once, which is what tokens are for.
func ExampleMutex_ForceUnlock() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	hanging := mustLock(svc, "order:1001")
	freed, err := mustMutex(svc, "order:1001").ForceUnlock(context.Background())
	fmt.Println(freed, err)
	fmt.Println(hanging.Unlock())

	// Output:
	// true <nil>
	// stage6: hold is lost
}

// A process that ends closes its service: its locks are free at once, and not
// only when their leases end. Work that is still running is told.
func ExampleService_Close() {
	server, svc := startService()
	defer server.Close()

	hold := mustLock(svc, "order:1001")
	fmt.Println(svc.Close())
	fmt.Println(context.Cause(hold.Context()))
	fmt.Println("key left in Redis:", server.Exists("lock:{order:1001}"))

	// Output:
	// <nil>
	// stage6: service is closed
	// key left in Redis: false
}

// A watchdog cannot tell long work from stuck work. WithMaxHold sets the
// limit.
func ExampleWithMaxHold() {
	server, svc := startService(stage6.WithMaxHold(50 * time.Millisecond))
	defer server.Close()
	defer svc.Close()

	err := mustMutex(svc, "report:daily").Do(context.Background(), func(ctx context.Context) error {
		<-ctx.Done() // stuck
		return nil
	})
	fmt.Println(err)

	// Output:
	// stage6: hold is lost
}

// With Redisson's names a Go process and a Java process share one lock.
func ExampleWithRedissonNames() {
	server, svc := startService(stage6.WithRedissonNames())
	defer server.Close()
	defer svc.Close()

	server.HSet("order:1001", "6a1f:31", "1") // a thread of the Java process holds it
	_, err := mustMutex(svc, "order:1001").TryLock(context.Background())
	fmt.Println(err)

	// Output:
	// stage6: lock is held by somebody else
}

// startService starts a Redis inside this program, and a service that uses it. A
// real process only needs the address of its Redis.
func startService(opts ...stage6.Option) (*miniredis.Miniredis, *service) {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	rdb := redis.NewClient(&redis.Options{
		Addr:                  server.Addr(),
		ContextTimeoutEnabled: true,        // without it go-redis ignores the lock's deadlines
		ReadTimeout:           time.Minute, // for a busy machine
	})
	svc, err := stage6.NewService(rdb, opts...)
	if err != nil {
		panic(err)
	}
	return server, &service{svc, rdb}
}

// service closes its client too.
type service struct {
	*stage6.Service
	rdb *redis.Client
}

func (s *service) Close() error { return errors.Join(s.Service.Close(), s.rdb.Close()) }

func mustMutex(svc *service, name string) *stage6.Mutex {
	m, err := svc.Mutex(name)
	if err != nil {
		panic(err)
	}
	return m
}

// mustLock takes a lock that is free.
func mustLock(svc *service, name string, opts ...stage6.LockOption) *stage6.Hold {
	hold, err := mustMutex(svc, name).Lock(context.Background(), opts...)
	if err != nil {
		panic(err)
	}
	return hold
}
