package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// ledger accepts orders. It keeps the highest token that it has seen.
type ledger struct{ highest int64 }

func (l *ledger) insert(token int64, order string) error {
	if token < l.highest {
		return errors.New(order + ": another client has held the lock since")
	}
	l.highest = token
	return nil
}

// A holder that does not know of its loss writes late, and the resource refuses.
func ExampleHold_Token() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "orders", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := mutex.Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	server.Del("lock:orders") // and the first holder does not know yet
	second, err := mutex.Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}

	var orders ledger
	fmt.Println("second:", orders.insert(second.Token(), "tea"))
	fmt.Println("first:", orders.insert(first.Token(), "tea"))
	fmt.Println("unlock:", second.Unlock(), first.Unlock())

	// Output:
	// second: <nil>
	// first: tea: another client has held the lock since
	// unlock: <nil> stage6: hold is lost
}
