package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// A hold can be lost: the network was away for longer than the lease, Redis lost
// the key, an administrator freed the lock. Then the context ends, with a cause.
func ExampleHold_Context_lost() {
	server, svc := startService(stage6.WithWatchdogTimeout(150 * time.Millisecond))
	defer server.Close()
	defer svc.Close()

	hold, err := mustMutex(svc, "order:1001").Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	server.FlushAll() // Redis loses the key

	<-hold.Context().Done() // the work stops here
	fmt.Println(errors.Is(context.Cause(hold.Context()), stage6.ErrLost))
	fmt.Println(hold.Unlock())

	// Output:
	// true
	// stage6: hold is lost
}

// orders is a table of a database. Its rows remember who wrote them last.
type orders struct {
	status, owner string
	token         int64
}

// update is this statement, and tells whether it changed a row:
//
//	UPDATE orders SET status = :status, token = :token, owner = :owner
//	WHERE id = 1001 AND (token < :token OR token = :token AND owner = :owner)
func (o *orders) update(status, owner string, token int64) bool {
	if token < o.token || token == o.token && owner != o.owner {
		return false
	}
	*o = orders{status, owner, token}
	return true
}

// No lock can keep a holder that stands still from writing when it wakes up. Its
// token can: the table refuses one that is older than what it has seen.
func ExampleHold_Token() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	m := mustMutex(svc, "order:1001")
	ctx := context.Background()
	var table orders

	first, err := m.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer first.Unlock()            // ErrLost
	server.Del("lock:{order:1001}") // the first one stands still, and its lease ends
	second, err := m.Lock(ctx)      // somebody else gets the lock,
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Unlock()
	fmt.Println("second:", table.update("paid", "second", second.Token()))
	fmt.Println("first:", table.update("cancelled", "first", first.Token())) // and the first one wakes up
	fmt.Println(table.status)

	// Output:
	// second: true
	// first: false
	// paid
}

// The observer is for counters. It is called on the lock's own goroutines, so it
// must not block.
func ExampleWithObserver() {
	var acquired, released, lost atomic.Int64
	server, svc := startService(stage6.WithObserver(stage6.Observer{
		Acquired: func(string, time.Duration) { acquired.Add(1) },
		Released: func(string, time.Duration) { released.Add(1) },
		Lost:     func(string) { lost.Add(1) },
	}))
	defer server.Close()
	defer svc.Close()

	m := mustMutex(svc, "order:1001")
	for range 3 {
		if err := m.Do(context.Background(), func(context.Context) error { return nil }); err != nil {
			fmt.Println(err)
		}
	}
	hold, err := m.Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	server.FlushAll()
	_ = hold.Unlock() // ErrLost
	fmt.Println("acquired", acquired.Load(), "released", released.Load(), "lost", lost.Load())

	// Output:
	// acquired 4 released 3 lost 1
}
