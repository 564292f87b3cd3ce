package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const (
	liveValidity = time.Second
	liveName     = "order:1001"
)

// openLocker makes a rueidislock.Locker on a redis-server.
func (b bench) openLocker(change func(*rueidislock.LockerOption)) (rueidislock.Locker, error) {
	socket := b.server.Socket()
	option := rueidislock.LockerOption{
		KeyMajority: 1, NoLoopTracking: true, KeyValidity: liveValidity,
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{"127.0.0.1:6379"}, ForceSingleClient: true,
			DialCtxFn: func(ctx context.Context, _ string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return d.DialContext(ctx, "unix", socket)
			},
		},
	}
	if change != nil {
		change(&option)
	}
	return rueidislock.NewLocker(option)
}

// leaver is rueidis's client of a process in which a waiter leaves at the worst
// moment: when it was woken, and before its attempt is sent.
type leaver struct {
	rueidis.Client
	attempts atomic.Int64
	leave    context.CancelFunc
}

type leavesKey struct{}

// Do sends a command.
func (l *leaver) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if ctx.Value(leavesKey{}) != nil && valueOf(cmd.Commands()) != "" && l.attempts.Add(1) == 2 {
		l.leave()
	}
	return l.Client.Do(ctx, cmd)
}

// settled is long enough for a goroutine to come to rest, on a busy machine too.
const settled = 200 * time.Millisecond

func tryLostWakeUp(b bench) (found evidence, err error) {
	holder, err := b.openLocker(nil)
	if err != nil {
		return evidence{}, err
	}
	defer holder.Close()
	spy := &leaver{}
	leaves, leave := context.WithCancel(context.WithValue(context.Background(), leavesKey{}, true))
	defer leave()
	spy.leave = leave
	waiters, err := b.openLocker(func(o *rueidislock.LockerOption) {
		o.ClientBuilder = func(option rueidis.ClientOption) (rueidis.Client, error) {
			spy.Client, err = rueidis.NewClient(option)
			return spy, err
		}
	})
	if err != nil {
		return evidence{}, err
	}
	defer waiters.Close()

	_, unlock, err := holder.WithContext(context.Background(), liveName)
	if err != nil {
		return evidence{}, err
	}
	left := make(chan error, 1)
	go func() {
		_, _, err := waiters.WithContext(leaves, liveName)
		left <- err
	}()
	time.Sleep(settled) // it waits first
	patient, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	got := make(chan error, 1)
	go func() {
		_, cancel, err := waiters.WithContext(patient, liveName)
		if err == nil {
			cancel()
		}
		got <- err
	}()
	time.Sleep(settled)
	unlock()
	if err := <-left; !errors.Is(err, context.Canceled) {
		return evidence{}, fmt.Errorf("the first waiter was to leave, and got: %w", err)
	}

	const patience = 3 * liveValidity
	select {
	case err := <-got:
		return evidence{false, []string{fmt.Sprintf("the second waiter got the lock (%v)", err)}}, nil
	case <-time.After(patience):
	}
	key := "rueidislock:0:" + liveName
	there, err := holder.Client().Do(context.Background(), holder.Client().B().Exists().Key(key).Build()).AsInt64()
	if err != nil {
		return evidence{}, err
	}
	giveUp()
	<-got
	return evidence{there == 0, []string{
		"two waiters of one process; the holder unlocks; the first is woken, and its context ends before its attempt is sent",
		fmt.Sprintf("%v later, three validities, the second still waits, and EXISTS %s answers %d", patience, key, there),
	}}, nil
}

func tryHotLoop(b bench) (evidence, error) {
	rate := func(noLoop bool) (int, error) {
		locker, err := b.openLocker(func(o *rueidislock.LockerOption) { o.NoLoopTracking = noLoop })
		if err != nil {
			return 0, err
		}
		defer locker.Close()
		_, cancel, err := locker.WithContext(context.Background(), liveName)
		if err != nil {
			return 0, err
		}
		defer cancel()
		time.Sleep(liveValidity) // the first renewal is over
		before, err := evals(locker.Client())
		if err != nil {
			return 0, err
		}
		time.Sleep(time.Second)
		after, err := evals(locker.Client())
		return after - before, err
	}
	looping, err := rate(false)
	if err != nil {
		return evidence{}, err
	}
	quiet, err := rate(true)
	if err != nil {
		return evidence{}, err
	}
	return evidence{looping > 100*(quiet+1), []string{
		"one lock is held for a second, by one client, validity 1 s; scripts that Redis ran meanwhile:",
		fmt.Sprintf("%d with NoLoopTracking: false, the default; %d with true", looping, quiet),
	}}, nil
}

var evalCalls = regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`)

// evals is how many scripts Redis has run.
func evals(client rueidis.Client) (int, error) {
	info, err := client.Do(context.Background(), client.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, m := range evalCalls.FindAllStringSubmatch(info, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func tryNilCancel(b bench) (evidence, error) {
	locker, err := b.openLocker(nil)
	if err != nil {
		return evidence{}, err
	}
	defer locker.Close()
	_, unlock, err := locker.WithContext(context.Background(), liveName)
	if err != nil {
		return evidence{}, err
	}
	defer unlock()
	ctx, stop := context.WithTimeout(context.Background(), settled)
	defer stop()
	_, cancel, err := locker.WithContext(ctx, liveName)
	if err == nil {
		cancel()
		return evidence{}, errors.New("two hold the lock")
	}
	return evidence{cancel == nil, []string{
		fmt.Sprintf("the lock is held, and WithContext waits for it with a deadline: err is %q, cancel is nil: %t", err, cancel == nil),
	}}, nil
}
