package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/spf13/cobra"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/realredis"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

const (
	demoLock  = "userId" // as in the documents' demo
	demoLease = 30 * time.Second
	timestamp = "2006-01-02 15:04:05.000" // as in the documents, with milliseconds
)

// Output of demo.
var (
	demoOf     = i18n.New("The lock \"{lock}\" of {stage} on {where}: a lease of {lease}, work of {hold}.")
	inAnother  = i18n.New("In another terminal: go run . demo --stage {stage} --name {name} --hold {hold} --redis {address}")
	asksForIt  = i18n.New("asks for the lock")
	gotIt      = i18n.New("got it after {time}, begins to work")
	endsWork   = i18n.New("ends after {time}, unlocks")
	unlocked   = i18n.New("unlocked")
	pollsAfter = i18n.New("A waiter on {stage} asks every 100 ms.")
	wokenAfter = i18n.New("A waiter on {stage} is woken by a message.")
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
		Long: "demo has two workers use one lock on an embedded Redis: work1 takes it and works for --hold; " +
			"work2 asks for it meanwhile. With --redis only one worker runs, so that two terminals, or two " +
			"machines, can use one server: give each its --name.",
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if d.stage, err = stages.Find(stage); err != nil {
				return err
			}
			if d.name == d.other {
				d.other = "work1"
			}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "6", "the stage whose lock they use")
	cmd.Flags().StringVar(&d.name, "name", "work1", "the worker's name")
	cmd.Flags().DurationVar(&d.hold, "hold", 5*time.Second, "how long the work takes, such as 5s or 300ms")
	cmd.Flags().StringVar(&d.addr, "redis", "", "the `address` of a Redis server: run one worker there")
	return cmd
}

// run runs one worker on a given server, or two on an embedded Redis. The second one starts when
// the first has the lock.
func (d *demo) run(ctx context.Context) error {
	workers, where := []string{d.name}, onAddress.Args("address", d.addr)
	if d.addr == "" {
		server, err := miniredis.Run()
		if err != nil {
			return failedError{err}
		}
		defer server.Close()
		server.ClockTTL(true) // lets leases end by themselves
		workers, where, d.addr = append(workers, d.other), onEmbedded.Args(), server.Addr()
	} else if _, err := live.At(ctx, d.addr, 1); err != nil {
		return orOurOwn.Args("error", err)
	}
	d.prose("", 0, d.say(demoOf, "lock", demoLock, "stage", d.stage.NameText(), "where", where, "lease", demoLease, "hold", d.hold))
	if len(workers) == 1 {
		fmt.Fprintln(d.out, d.say(inAnother, "stage", d.stage.ID, "name", d.other, "hold", d.hold, "address", d.addr))
	}
	fmt.Fprintln(d.out)
	var errs [2]error
	var working sync.WaitGroup
	for i, name := range workers {
		asking, next := context.WithCancel(ctx)
		working.Go(func() { errs[i] = d.work(ctx, name, next) })
		<-asking.Done()
	}
	working.Wait()
	if err := cmp.Or(errs[0], errs[1]); err != nil || len(workers) == 1 {
		return err
	}
	how := pollsAfter
	if slices.Contains(d.stage.Subject.Has, catalogue.PubSub) {
		how = wokenAfter
	}
	fmt.Fprintln(d.out)
	d.prose("", 0, d.say(how, "stage", d.stage.NameText()))
	return nil
}

// work acquires the lock, works and unlocks, and prints a line for each. It calls next shortly
// after it got the lock, and when it ends.
func (d *demo) work(ctx context.Context, name string, next func()) (err error) {
	defer next()
	defer func() {
		if err != nil {
			err = failedError{fmt.Errorf("%s: %w", name, err)}
		}
	}()
	locker, err := realredis.NewLock(d.stage.Subject.New, d.addr, demoLock, demoLease)
	if err != nil {
		return err
	}
	defer locker.Close()
	asked := d.log(name, asksForIt)
	if err := locker.Lock(ctx); err != nil {
		return err
	}
	began := d.log(name, gotIt, "time", time.Since(asked).Round(time.Millisecond))
	// Half of the polling interval of stages 1 to 5. Otherwise round durations would end exactly when
	// they poll, which would hide the delay of polling.
	time.AfterFunc(50*time.Millisecond, next)
	select {
	case <-time.After(d.hold):
	case <-ctx.Done():
	}
	d.log(name, endsWork, "time", time.Since(began).Round(time.Millisecond))
	unlocking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := locker.Unlock(unlocking); err != nil {
		return err
	}
	d.log(name, unlocked)
	return nil
}

// log prints a line of a worker and returns its time.
func (d *demo) log(name string, t i18n.Text, pairs ...any) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	fmt.Fprintf(d.out, "%s  %s  %s\n", now.Format(timestamp), term.Pad(name, len(d.other)), d.say(t, pairs...))
	return now
}
