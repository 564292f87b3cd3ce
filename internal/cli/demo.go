package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// demoLock is the name of the lock in the documents' own demo.
const demoLock = "userId"

// moment is how long after the first worker got the lock the second one asks. It
// is half of what lies between two attempts of stages 1 to 5: work that takes a
// round time would else end just when they ask, and hide that they poll.
const moment = 50 * time.Millisecond

// demoPlan is what the flags of demo ask for.
type demoPlan struct {
	stage             columns.Column
	name              string // of the worker
	hold, wait, lease time.Duration
	addr              string // of a Redis server; "" for an embedded one
}

// outlives tells whether the lease is over before the work, since nobody renews it.
func (p demoPlan) outlives() bool {
	return p.hold >= p.lease && !slices.Contains(p.stage.Subject.Has, failures.Watchdog)
}

// other is the name of the second worker.
func (p demoPlan) other() string {
	if p.name == "work2" {
		return "work1"
	}
	return "work2"
}

func (a *app) demoCommand() *cobra.Command {
	var p demoPlan
	var stage string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Two workers and one lock, in real time",
		Long: "demo does what the documents' own demo does: work1 takes the lock and works for --hold; work2 asks for it " +
			"meanwhile, waits up to --wait, and begins when work1 ends. Both run here, on an embedded " +
			"Redis. With --redis only one worker runs, so that two terminals, or two machines, can use " +
			"one server: give both the same --stage, and each its --name.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if p.stage, err = columns.Find(stage); err != nil {
				return err
			}
			if err := p.check(cmd.Flags().Changed("redis")); err != nil {
				return err
			}
			return a.demo(p)
		},
	}
	shown := columns.Shown()
	last := shown[len(shown)-1].ID
	cmd.Flags().StringVar(&stage, "stage", last, "the stage whose lock they use")
	cmd.Flags().StringVar(&p.name, "name", "work1", "the worker's name")
	cmd.Flags().DurationVar(&p.hold, "hold", 5*time.Second, "how long the work takes")
	cmd.Flags().DurationVar(&p.wait, "wait", 10*time.Second, "how long to wait for the lock")
	cmd.Flags().DurationVar(&p.lease, "lease", 30*time.Second, "the lock's lease")
	cmd.Flags().StringVar(&p.addr, "redis", "", "the `address` of a Redis server: run one worker there")
	return cmd
}

// Errors of demo.
var (
	noName   = texts.New("--name is empty: name the worker, such as work1")
	badName  = texts.New("--name {name} does not fit on a line: use letters, such as work1")
	badHold  = texts.New("--hold {time} is negative: give the time that the work takes, such as 5s")
	badWait  = texts.New("--wait {time} does not fit: give how long to wait for the lock, such as 10s")
	badRedis = texts.New("--redis {address} is no address: give host:port, such as 127.0.0.1:6379")
	badLease = texts.New("--lease {time} does not fit this lock: {error}")
)

// check refuses what cannot be run. How short a lease may be, the stages know.
func (p demoPlan) check(onServer bool) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case strings.TrimSpace(p.name) == "":
		return noName.With()
	case strings.ContainsFunc(p.name, unprintable):
		return badName.With("name", strconv.Quote(p.name))
	case p.hold < 0:
		return badHold.With("time", p.hold)
	case p.wait <= 0:
		return badWait.With("time", p.wait)
	case onServer:
		_, port, err := net.SplitHostPort(p.addr)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 {
			return badRedis.With("address", strconv.Quote(p.addr))
		}
	}
	return nil
}

// demo runs one worker on a server, or both on an embedded Redis. Ctrl-C ends it:
// who holds the lock frees it first, however often one presses.
func (a *app) demo(p demoPlan) error {
	ctx, stop := untilInterrupted(context.Background())
	defer stop()
	if p.addr != "" {
		return a.demoOne(ctx, p)
	}
	return a.demoBoth(ctx, p)
}

// demoOne runs one worker on the server at the plan's address.
func (a *app) demoOne(ctx context.Context, p demoPlan) error {
	w, err := newWorker(p, p.name, p.addr, &board{out: a.out, lang: a.lang, width: term.Columns(p.name)})
	if err != nil {
		return err
	}
	defer w.close()
	if err := reach(ctx, w.rdb, p.addr); err != nil {
		return err
	}
	a.announce(p, oneWorker)
	again := fmt.Sprintf("go run . demo --stage %s --name %s --hold %v --redis %s", p.stage.ID, p.other(), p.hold, p.addr)
	fmt.Fprintf(a.out, "%s\n\n", a.say(inAnother, "command", again))
	return w.run(ctx)
}

// demoBoth runs both workers on a Redis of their own, each with a client of its
// own, as two machines would. The second asks once the first is inside.
func (a *app) demoBoth(ctx context.Context, p demoPlan) error {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		return failedError{startsNot.With("error", err)}
	}
	defer server.Close()
	server.ClockTTL(true) // else leases stand still
	lines := &board{out: a.out, lang: a.lang, width: max(term.Columns(p.name), term.Columns(p.other()))}
	first, err := newWorker(p, p.name, server.Addr(), lines)
	if err != nil {
		return err
	}
	defer first.close()
	second, err := newWorker(p, p.other(), server.Addr(), lines)
	if err != nil {
		return err
	}
	defer second.close()

	a.announce(p, twoWorkers)
	fmt.Fprintln(a.out)
	var firstErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		firstErr = first.run(ctx)
	}()
	var secondErr error
	if first.isInside(done) && pass(ctx, moment) {
		secondErr = second.run(ctx)
	}
	<-done
	if firstErr != nil {
		return firstErr
	}
	if secondErr != nil {
		return secondErr
	}
	if second.began.IsZero() {
		return errInterrupted
	}
	return a.seen(p, first, second)
}

// pass waits for d. It returns false when ctx is done first.
func pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// What demo says around the workers' own lines.
var (
	demoHead   = texts.New("{stage}, {title}")
	oneWorker  = texts.New("One worker on the Redis at {address}: the lock {lock}, a lease of {lease}, work of {hold}.")
	twoWorkers = texts.New("Two workers on an embedded Redis: the lock {lock}, a lease of {lease}, work of {hold}.")
	inAnother  = texts.New("In another terminal: {command}")
	startsNot  = texts.New("the embedded Redis does not start: {error}")
	isOutlived = texts.New("The work ({hold}) outlives the lease ({lease}), and {stage} renews nothing: the lock is free before the work ends.")
	pollsAfter = texts.New("{second} began {n} ms after {first} ended: a waiter on {stage} asks every 100 ms.")
	wokenAfter = texts.New("{second} began {n} ms after {first} ended: a waiter on {stage} is woken by a message.")
	beganInIt  = texts.New("{second} began {n} ms before {first} ended: both were at work.")
	lockBroken = texts.New("{what} The lock is broken.")
	stepByStep = texts.New("Step by step: {command}")
	refuses    = texts.New("the Redis at {address} refuses to work ({error}): give one that is up and needs no password, or leave --redis out")
	noAnswer   = texts.New("no Redis answers at {address}: start one with redis-server --port {port}, or leave --redis out")
)

// announce says what is about to run, and which lesson it will teach.
func (a *app) announce(p demoPlan, who texts.Text) {
	head := a.say(demoHead, "stage", capital(p.stage.NameIn(a.lang)), "title", p.stage.TitleIn(a.lang))
	pairs := []any{"address", p.addr, "lock", demoLock, "lease", p.lease, "hold", p.hold, "stage", p.stage.Said()}
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, head))
	a.prose(who.With(pairs...))
	if p.outlives() {
		a.prose(isOutlived.With(pairs...))
	}
}

// seen says how the second worker's work followed on the first one's.
func (a *app) seen(p demoPlan, first, second *worker) error {
	gap := second.began.Sub(first.ended)
	how := pollsAfter
	switch {
	case gap < 0:
		how = beganInIt
	case slices.Contains(p.stage.Subject.Has, failures.PubSub):
		how = wokenAfter
	}
	what := how.With("second", second.name, "n", gap.Abs().Milliseconds(), "first", first.name, "stage", p.stage.Said())
	if gap < 0 && !p.outlives() {
		return failedError{lockBroken.With("what", what)}
	}
	fmt.Fprintln(a.out)
	a.prose(what)
	if gap < 0 {
		fmt.Fprintln(a.out, a.say(stepByStep, "command", "go run . show work-outlives-ttl --stage "+p.stage.ID))
	}
	return nil
}

// reach asks whether a usable Redis answers at the address.
func reach(ctx context.Context, rdb *redis.Client, addr string) error {
	limited, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err := rdb.Ping(limited).Err()
	var refusal redis.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errInterrupted
	case errors.As(err, &refusal):
		return refuses.With("address", addr, "error", err)
	}
	_, port, _ := net.SplitHostPort(addr) // checked before
	return noAnswer.With("address", addr, "port", port)
}
