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
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Println("the order is created")
	return nil
}

// TryLock does not wait. ErrLocked is a no; any other error says that nobody knows.
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
			fmt.Println(worker, "leaves it to somebody else")
		case err != nil:
			fmt.Println(worker, "cannot tell:", err)
		default:
			defer hold.Unlock()
			fmt.Println(worker, "writes the report")
		}
	}

	// Output:
	// A writes the report
	// B leaves it to somebody else
}

// TryLockFor waits, but not for ever. The wait bounds the waiting only: the hold
// lasts until it is released.
func ExampleMutex_TryLockFor() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")

	ctx := context.Background()
	hold, err := m.TryLockFor(ctx, 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hold.Unlock()

	_, err = m.TryLockFor(ctx, 50*time.Millisecond) // another context is another owner
	fmt.Println(errors.Is(err, stage6.ErrLocked))

	// Output:
	// true
}

// Work may take longer than the lease: the watchdog renews it every third, until
// Unlock. Here the lease is a fraction of a second, and the work five renewals long.
func ExampleHold_Context() {
	renewed := make(chan struct{}, 100)
	server, svc := startService(
		stage6.WithWatchdogTimeout(600*time.Millisecond),
		stage6.WithObserver(stage6.Observer{Renewed: func(int, error) { renewed <- struct{}{} }}),
	)
	defer server.Close()
	defer svc.Close()

	hold, err := mustMutex(svc, "import:2026").Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hold.Unlock()
	for part := range 5 {
		select {
		case <-renewed: // the part takes as long as it takes
		case <-hold.Context().Done():
			fmt.Println("stopped at part", part, context.Cause(hold.Context()))
			return
		}
	}
	fmt.Println("all parts are in")

	// Output:
	// all parts are in
}

// A fixed lease ends by itself, whether the work is done or not.
func ExampleLease() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	hold, err := mustMutex(svc, "cache:prices").Lock(context.Background(), stage6.Lease(40*time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	<-hold.Context().Done() // the work takes longer
	fmt.Println(context.Cause(hold.Context()))
	fmt.Println(hold.Unlock())

	// Output:
	// stage6: hold is lost
	// stage6: hold is lost
}

// A function that takes the lock can be called by one that holds it: the context
// carries the hold, and the owner's count goes up.
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

// Whoever needs several locks takes them in one order everywhere, or two of them
// will wait for each other. The context goes from lock to lock: it ends when any of
// them is lost.
func ExampleMutex_Lock_several() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()

	transfer := func(ctx context.Context, accounts ...string) error {
		slices.Sort(accounts) // the one order
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

// Do is Lock, work and Unlock in one. A panic in the work releases the lock as well.
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

// startService starts a Redis inside this program, and a service on it. A real
// process has Redis elsewhere, and needs only its address.
func startService(opts ...stage6.Option) (*miniredis.Miniredis, *service) {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	rdb := redis.NewClient(&redis.Options{
		Addr:                  server.Addr(),
		ContextTimeoutEnabled: true, // without it go-redis ignores the lock's deadlines
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
