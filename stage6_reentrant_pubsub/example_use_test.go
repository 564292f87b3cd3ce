package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// A deadline of the caller's bounds the wait, and the work as well: the hold's
// context is made from the caller's. The error says who ended the wait.
func ExampleMutex_Lock_deadline() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")

	handle := func(request context.Context, patience time.Duration) {
		ctx, cancel := context.WithTimeout(request, patience)
		defer cancel()
		hold, err := m.Lock(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Println("too busy: try again later")
			return
		case err != nil:
			fmt.Println("cannot tell:", err)
			return
		}
		defer hold.Unlock()
		fmt.Println("the order is changed")
	}
	err := m.Do(context.Background(), func(context.Context) error {
		handle(context.Background(), 50*time.Millisecond) // another request, while somebody holds the lock
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	handle(context.Background(), time.Minute)

	// Output:
	// too busy: try again later
	// the order is changed
}

// What one can ask about a lock. IsHeld and HoldCount are about the owner that the
// context carries; IsLocked and RemainingTTL are about anybody.
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
	err := m.Do(context.Background(), func(ctx context.Context) error {
		ask("the holder: ", ctx)
		ask("a stranger: ", context.Background())
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	ask("afterwards: ", context.Background())

	// Output:
	// the holder:  locked: true held: true count: 1 lease left: true
	// a stranger:  locked: true held: false count: 0 lease left: true
	// afterwards:  locked: false held: false count: 0 lease left: false
}

// An administrator frees a lock whose holder hangs. The holder learns of it at its
// next renewal; until then both may be inside, which is what tokens are for.
func ExampleMutex_ForceUnlock() {
	server, svc := startService(stage6.WithWatchdogTimeout(150 * time.Millisecond))
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")

	ctx := context.Background()
	hanging, err := m.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	freed, err := m.ForceUnlock(ctx)
	fmt.Println(freed, err)
	<-hanging.Context().Done()
	fmt.Println(context.Cause(hanging.Context()))

	// Output:
	// true <nil>
	// stage6: hold is lost
}

// A process that ends closes its service: what it holds is free at once, and not
// only when its leases are over. Work that still goes on is told.
func ExampleService_Close() {
	server, svc := startService()
	defer server.Close()

	hold, err := mustMutex(svc, "order:1001").Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(svc.Close())
	fmt.Println(context.Cause(hold.Context()))
	fmt.Println("key left in Redis:", server.Exists("lock:{order:1001}"))

	// Output:
	// <nil>
	// stage6: service is closed
	// key left in Redis: false
}

// A watchdog cannot tell long work from stuck work. WithMaxHold says where the one
// becomes the other.
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
func ExampleWithLayout() {
	server, svc := startService(stage6.WithLayout(stage6.RedissonLayout))
	defer server.Close()
	defer svc.Close()

	server.HSet("order:1001", "6a1f:31", "1") // a thread of the Java process holds it
	_, err := mustMutex(svc, "order:1001").TryLock(context.Background())
	fmt.Println(err)

	// Output:
	// stage6: lock is held by somebody else
}
