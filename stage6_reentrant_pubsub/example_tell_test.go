package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// OnLost is for alarms: it is told of each hold that is lost, on a goroutine of
// its own. The work itself is told by its context.
func ExampleWithOnLost() {
	alarm := make(chan string, 1)
	server, svc := startService(
		stage6.WithWatchdogTimeout(150*time.Millisecond),
		stage6.WithOnLost(func(name string) { alarm <- name }),
	)
	defer server.Close()
	defer svc.Close()

	hold, err := mustMutex(svc, "order:1001").Lock(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hold.Unlock() // ErrLost
	server.FlushAll()
	fmt.Println("lost:", <-alarm)

	// Output:
	// lost: order:1001
}

// The logger is told of what goes wrong: failed renewals, lost holds, clean-ups.
// On a good day it writes nothing.
func ExampleWithLogger() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // so that the output is the same every day
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
	// level=WARN msg="lock lost" name=order:1001
}

// metrics counts what an Observer is told, and writes it as Prometheus reads it.
type metrics struct {
	mu       sync.Mutex
	counters map[string]float64
}

func (m *metrics) add(series string, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counters == nil {
		m.counters = map[string]float64{}
	}
	m.counters[series] += value
}

// observer names no locks: a name with an order's number in it would make a series
// for each order.
func (m *metrics) observer() stage6.Observer {
	return stage6.Observer{
		Acquired: func(_ string, waited time.Duration) {
			m.add("lock_acquired_total", 1)
			m.add("lock_wait_seconds_total", waited.Seconds())
		},
		Released: func(_ string, held time.Duration) {
			m.add("lock_released_total", 1)
			m.add("lock_hold_seconds_total", held.Seconds())
		},
		Renewed: func(locks int, err error) {
			m.add(fmt.Sprintf("lock_renewals_total{ok=%q}", fmt.Sprint(err == nil)), float64(locks))
		},
		Lost: func(string) { m.add("lock_lost_total", 1) },
	}
}

// write is the handler's body of GET /metrics.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	series := make([]string, 0, len(m.counters))
	for name := range m.counters {
		series = append(series, name)
	}
	slices.Sort(series)
	for _, name := range series {
		fmt.Fprintf(w, "%s %g\n", name, m.counters[name])
	}
}

// The observer counts acquisitions, waits, hold times, renewals and losses, here
// in the text format of Prometheus, written by hand.
func ExampleObserver() {
	var m metrics
	renewed := make(chan struct{}, 100)
	observer := m.observer()
	count := observer.Renewed
	observer.Renewed = func(locks int, err error) {
		count(locks, err)
		renewed <- struct{}{}
	}
	server, svc := startService(stage6.WithObserver(observer), stage6.WithWatchdogTimeout(3*time.Second))
	defer server.Close()
	defer svc.Close()

	order := mustMutex(svc, "order:1001")
	for range 3 {
		if err := order.Do(context.Background(), func(context.Context) error { return nil }); err != nil {
			fmt.Println(err)
		}
	}
	err := order.Do(context.Background(), func(context.Context) error {
		<-renewed
		server.FlushAll()
		return nil
	})
	fmt.Println(err)

	var page strings.Builder
	m.write(&page)
	for line := range strings.Lines(page.String()) {
		if strings.Contains(line, "seconds") || strings.Contains(line, "renewals") { // another number each day
			series, value, _ := strings.Cut(line, " ")
			line = fmt.Sprintln(series, "some:", value != "0\n")
		}
		fmt.Print(line)
	}

	// Output:
	// stage6: hold is lost
	// lock_acquired_total 4
	// lock_hold_seconds_total some: true
	// lock_lost_total 1
	// lock_released_total 3
	// lock_renewals_total{ok="true"} some: true
	// lock_wait_seconds_total some: true
}
