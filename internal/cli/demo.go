package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

const (
	demoLock  = "userId" // as in the documents' own demo
	demoLease = 30 * time.Second
	timestamp = "2006-01-02 15:04:05.000" // the documents' own, with milliseconds
)

// What demo prints.
var (
	badName    = i18n.New("--name {name} does not fit on a line: use letters, such as work1")
	badHold    = i18n.New("--hold {time} is negative: give the time that the work takes, such as 5s")
	badRedis   = i18n.New("--redis {address} is no address: give host:port, such as 127.0.0.1:6379")
	noAnswer   = i18n.New("no Redis answers at {address}: start one with redis-server --port {port}, or leave --redis out")
	oneWorker  = i18n.New("One worker on the Redis at {address}: the lock {lock} of {stage}, a lease of {lease}, work of {hold}.")
	twoWorkers = i18n.New("Two workers on an embedded Redis: the lock {lock} of {stage}, a lease of {lease}, work of {hold}.")
	inAnother  = i18n.New("In another terminal: go run . demo --stage {stage} --name {name} --hold {hold} --redis {address}")
	asksForIt  = i18n.New("asks for the lock")
	gotIt      = i18n.New("got it after {time}, begins to work")
	endsWork   = i18n.New("ends after {time}, unlocks")
	unlocked   = i18n.New("unlocked")
	pollsAfter = i18n.New("{second} began {n} ms after {first} ended: a waiter on {stage} asks every 100 ms.")
	wokenAfter = i18n.New("{second} began {n} ms after {first} ended: a waiter on {stage} is woken by a message.")
	beganInIt  = i18n.New("{second} began {n} ms before {first} ended: both were at work.")
)

// demo is one run of the command.
type demo struct {
	*app
	stage       stages.Stage
	hold        time.Duration
	name, other string // of the workers
	addr        string // of a Redis server
	mu          sync.Mutex
}

func (a *app) demoCommand() *cobra.Command {
	d := &demo{app: a, other: "work2"}
	var stage string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Two workers and one lock, in real time",
		Long: "demo does what the documents' own demo does: work1 takes the lock and works for --hold; work2 asks for it " +
			"meanwhile, and begins when work1 ends. Both run here, on an embedded Redis. With --redis only one worker " +
			"runs, so that two terminals, or two machines, can use one server: give both the same --stage, and each its --name.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if d.stage, err = stages.Find(stage); err != nil {
				return err
			}
			if d.name == d.other {
				d.other = "work1"
			}
			logging.Disable() // go-redis would print its own lines among the workers'
			ctx, stop := untilInterrupted(context.Background())
			defer stop()
			_, port, err := net.SplitHostPort(d.addr)
			n, bad := strconv.ParseUint(port, 10, 16)
			switch {
			case strings.TrimSpace(d.name) == "" || strings.ContainsFunc(d.name, func(r rune) bool { return !unicode.IsPrint(r) }):
				return badName.Args("name", strconv.Quote(d.name))
			case d.hold < 0:
				return badHold.Args("time", d.hold)
			case !cmd.Flags().Changed("redis"):
				return d.runBoth(ctx)
			case err != nil || bad != nil || n == 0:
				return badRedis.Args("address", strconv.Quote(d.addr))
			}
			return d.runOne(ctx, port)
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "6", "the stage whose lock they use")
	cmd.Flags().StringVar(&d.name, "name", "work1", "the worker's name")
	cmd.Flags().DurationVar(&d.hold, "hold", 5*time.Second, "how long the work takes")
	cmd.Flags().StringVar(&d.addr, "redis", "", "the `address` of a Redis server: run one worker there")
	return cmd
}

// runOne runs one worker on a server.
func (d *demo) runOne(ctx context.Context, port string) error {
	pinging, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if redisserver.Ping(pinging, d.addr) != nil && ctx.Err() == nil {
		return noAnswer.Args("address", d.addr, "port", port)
	}
	d.prose(oneWorker.Args("address", d.addr, "lock", demoLock, "stage", d.stage.NameText(), "lease", demoLease, "hold", d.hold))
	fmt.Fprintf(d.out, "%s\n\n", d.say(inAnother, "stage", d.stage.ID, "name", d.other, "hold", d.hold, "address", d.addr))
	return d.work(ctx, &worker{name: d.name}, func() {})
}

// runBoth runs two workers on an embedded Redis. The second one asks when the first has the lock.
func (d *demo) runBoth(ctx context.Context) error {
	server, err := miniredis.Run()
	if err != nil {
		return failedError{err}
	}
	defer server.Close()
	server.ClockTTL(true) // let leases end by themselves
	d.addr = server.Addr()
	d.prose(twoWorkers.Args("lock", demoLock, "stage", d.stage.NameText(), "lease", demoLease, "hold", d.hold))
	fmt.Fprintln(d.out)
	first, second := &worker{name: d.name}, &worker{name: d.other}
	asking, next := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- d.work(ctx, first, next) }()
	<-asking.Done()
	secondErr := d.work(ctx, second, next)
	if err := cmp.Or(<-done, secondErr); err != nil {
		return err
	}
	gap, how := second.began.Sub(first.ended), pollsAfter
	if gap < 0 {
		how = beganInIt
	} else if slices.Contains(d.stage.Subject.Has, failures.PubSub) {
		how = wokenAfter
	}
	fmt.Fprintln(d.out)
	d.prose(how.Args("second", d.other, "n", gap.Abs().Milliseconds(), "first", d.name, "stage", d.stage.NameText()))
	return nil
}

// worker is one machine of the demo.
type worker struct {
	name         string
	began, ended time.Time // its work
}

// work acquires the lock, works and unlocks, and prints a line for each. It calls next a moment
// after it got the lock, and when it ends.
func (d *demo) work(ctx context.Context, w *worker, next func()) error {
	defer next()
	// A retried SET NX would be refused because of the key that it wrote.
	rdb := redisserver.NewClient(d.addr, func(o *redis.Options) { o.MaxRetries, o.DialerRetries = -1, 1 })
	defer rdb.Close()
	locker, err := d.stage.Subject.New(rdb, demoLock, demoLease)
	if err != nil {
		return failedError{err}
	}
	if service, ok := locker.(io.Closer); ok {
		defer service.Close()
	}
	asked := d.log(w, asksForIt)
	if err := locker.Lock(ctx); err != nil {
		return failedError{fmt.Errorf("%s: %w", w.name, err)}
	}
	w.began = d.log(w, gotIt, "time", time.Since(asked).Round(time.Millisecond))
	// Half of the time between two attempts of stages 1 to 5: otherwise work of a round time would end
	// just when they ask, and hide that they poll.
	time.AfterFunc(50*time.Millisecond, next)
	select {
	case <-time.After(d.hold):
	case <-ctx.Done():
	}
	w.ended = d.log(w, endsWork, "time", time.Since(w.began).Round(time.Millisecond))
	unlocking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := locker.Unlock(unlocking); err != nil {
		return failedError{fmt.Errorf("%s: %w", w.name, err)}
	}
	d.log(w, unlocked)
	return ctx.Err()
}

// log prints a line of a worker and returns its time.
func (d *demo) log(w *worker, t i18n.Text, pairs ...any) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	fmt.Fprintf(d.out, "%s  %s  %s\n", now.Format(timestamp), term.Pad(w.name, len(d.other)), d.say(t, pairs...))
	return now
}
