package stage6_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"log/slog"
	"os"
	"time"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// Work may take longer than the lease: the watchdog renews it every third, until
// Unlock. Here the work lasts until the first renewal.
func ExampleHold_Context() {
	renewed := make(chan struct{}, 100)
	server, svc := startService(
		stage6.WithWatchdogTimeout(4*time.Second),
		stage6.WithObserver(stage6.Observer{Renewed: func(int, error) { renewed <- struct{}{} }}),
	)
	defer server.Close()
	defer svc.Close()

	hold := mustLock(svc, "import:2026")
	defer hold.Unlock()
	select {
	case <-renewed:
		fmt.Println("the import is complete")
	case <-hold.Context().Done():
		fmt.Println("stopped:", context.Cause(hold.Context()))
	}

	// Output:
	// the import is complete
}

// A hold can be lost: the network failed for longer than the lease, Redis lost
// the key, an administrator freed the lock. Then the context ends, with a cause.
func ExampleHold_Context_lost() {
	server, svc := startService(stage6.WithWatchdogTimeout(1500 * time.Millisecond))
	defer server.Close()
	defer svc.Close()

	hold := mustLock(svc, "order:1001")
	server.FlushAll() // Redis loses the key

	<-hold.Context().Done() // the next renewal finds no key, and the work stops
	fmt.Println(errors.Is(context.Cause(hold.Context()), stage6.ErrLost))
	fmt.Println(hold.Unlock())

	// Output:
	// true
	// stage6: hold is lost
}

// orders is a table of a database. Each row has the token and the owner of its last write.
type orders struct {
	status, owner string
	token         int64
}

// update runs this statement, and reports whether it changed a row:
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

// No lock can keep a holder that was paused from writing when it continues. Its
// token can: the table refuses one that is older than the newest it has seen.
func ExampleHold_Token() {
	server, svc := startService()
	defer server.Close()
	defer svc.Close()
	var table orders

	first := mustLock(svc, "order:1001")
	defer first.Unlock()                  // ErrLost
	server.Del("lock:{order:1001}")       // the first one is paused, and its lease ends
	second := mustLock(svc, "order:1001") // another client gets the lock,
	defer second.Unlock()
	fmt.Println("second:", table.update("paid", "second", second.Token()))
	fmt.Println("first:", table.update("cancelled", "first", first.Token())) // and the first one continues
	fmt.Println(table.status)

	// Output:
	// second: true
	// first: false
	// paid
}

// OnLost is for alarms: it is called in a new goroutine for each hold that is
// lost. The work itself is told by its context.
func ExampleWithOnLost() {
	alarm := make(chan stage6.Loss, 1)
	server, svc := startService(stage6.WithOnLost(func(l stage6.Loss) { alarm <- l }))
	defer server.Close()
	defer svc.Close()

	hold := mustLock(svc, "order:1001")
	server.FlushAll() // Redis loses the key
	fmt.Println(hold.Unlock())
	loss := <-alarm
	fmt.Println("lost:", loss.Name, "with its token:", loss.Token == hold.Token())
	fmt.Println(loss.Cause)

	// Output:
	// stage6: hold is lost
	// lost: order:1001 with its token: true
	// stage6: its key is gone, or somebody else's
}

// The logger gets warnings: failed renewals, lost holds, clean-ups. In normal
// use it gets nothing.
func ExampleWithLogger() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "token" {
				return slog.Attr{} // so that the output is always the same
			}
			return a
		},
	})
	server, svc := startService(stage6.WithLogger(slog.New(handler)))
	defer server.Close()
	defer svc.Close()

	m := mustMutex(svc, "order:1001")
	for _, flush := range []bool{false, true} {
		err := m.Do(context.Background(), func(context.Context) error {
			if flush {
				server.FlushAll()
			}
			return nil
		})
		if err != nil && !errors.Is(err, stage6.ErrLost) {
			fmt.Println(err)
		}
	}

	// Output:
	// level=WARN msg="lock lost" name=order:1001 cause="stage6: its key is gone, or somebody else's"
}

// metrics returns an Observer that counts. It uses no lock names: a name with an
// order's number in it would make a counter for each order.
func metrics(m *expvar.Map) stage6.Observer {
	return stage6.Observer{
		Acquired: func(_ string, waited time.Duration) {
			m.Add("lock_acquired_total", 1)
			m.AddFloat("lock_wait_seconds_total", waited.Seconds())
		},
		Released: func(_ string, held time.Duration) {
			m.Add("lock_released_total", 1)
			m.AddFloat("lock_hold_seconds_total", held.Seconds())
		},
		Renewed: func(locks int, err error) { m.Add(fmt.Sprintf("lock_renewals_total{ok=%t}", err == nil), int64(locks)) },
		Lost:    func(string) { m.Add("lock_lost_total", 1) },
	}
}

// The observer is for counters of acquisitions, waits, hold times, renewals and losses. It is told
// on a goroutine of the service, for which Close waits.
func ExampleObserver() {
	var counters expvar.Map
	server, svc := startService(stage6.WithObserver(metrics(&counters)))
	defer server.Close()

	if err := mustLock(svc, "order:1001").Unlock(); err != nil {
		fmt.Println(err)
	}
	hold := mustLock(svc, "order:1001")
	server.FlushAll()
	fmt.Println(hold.Unlock())
	_ = svc.Close()
	counters.Do(func(counter expvar.KeyValue) {
		if n, ok := counter.Value.(*expvar.Int); ok {
			fmt.Println(counter.Key, n)
		} else {
			fmt.Println(counter.Key, "some:", counter.Value.String() != "0") // the time varies
		}
	})

	// Output:
	// stage6: hold is lost
	// lock_acquired_total 2
	// lock_hold_seconds_total some: true
	// lock_lost_total 1
	// lock_released_total 1
	// lock_wait_seconds_total some: true
}
