package main

import (
	"context"
	"fmt"
	"time"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// An hour at the default lease has 360 periods of renewal.
const (
	hourPeriods   = 360
	renewingLease = 180 * time.Millisecond
)

// renewed is what a held lock that renews itself has made.
type renewed struct {
	periods  int
	renewals int
	others   int // commands that are no renewals
	messages int64
	checks   int // scripts of those who wait
	lost     bool
}

func measureRenewing(ctx context.Context, r run) ([]row, error) {
	alone, err := renewStage6(ctx, r.times(hourPeriods, 60), false)
	if err != nil {
		return nil, err
	}
	waited, err := renewStage6(ctx, r.times(hourPeriods/6, 30), true)
	if err != nil {
		return nil, err
	}
	loop, err := renewRueidislock(ctx, r.long(2*time.Second, time.Second))
	if err != nil {
		return nil, err
	}
	return []row{
		{
			What: fmt.Sprintf("a held lock renewing (%d periods): renewals, other commands", alone.periods),
			Ours: fmt.Sprintf("%d, %d", alone.renewals, alone.others),
			Beside: fmt.Sprintf("rueidislock's default: %.0f commands/s, %.0f renewals/s are due",
				loop, float64(time.Second)/float64(loopLease/2)),
			Target: "0 others", Verdict: verdictOf(alone.others == 0 && !alone.lost),
		},
		{
			What:   fmt.Sprintf("waiters woken by it (%d periods, 100 waiters of another process)", waited.periods),
			Ours:   fmt.Sprint(waited.messages),
			Beside: fmt.Sprintf("%d scripts of all waiters together, when a lease they were told of may be over", waited.checks),
			Target: "0", Verdict: verdictOf(waited.messages == 0 && !waited.lost),
		},
	}, nil
}

// renewStage6 holds a lock for so many periods of renewal.
func renewStage6(ctx context.Context, periods int, withWaiters bool) (renewed, error) {
	seen := renewed{periods: periods}
	_, err := onServer(ctx, func(s *server) ([]row, error) {
		rdb := goRedis(s.addr(), nil)
		defer rdb.Close()
		renewals := make(chan int, 2*periods+100)
		svc, err := stage6.NewService(rdb, stage6.WithWatchdogTimeout(renewingLease),
			stage6.WithObserver(stage6.Observer{Renewed: func(locks int, _ error) { renewals <- locks }}))
		if err != nil {
			return nil, err
		}
		defer svc.Close()
		m, err := svc.Mutex("renewing")
		if err != nil {
			return nil, err
		}
		hold, err := m.Lock(ctx)
		if err != nil {
			return nil, err
		}
		var w *worker
		var before answer
		if withWaiters {
			if w, err = startWorker(stage6Kind, settings{Addr: s.addr(), Lease: renewingLease, Count: true}); err != nil {
				return nil, err
			}
			defer w.end()
			if before, err = w.ask(order{Do: idleOrder, Name: "renewing", N: 100, For: time.Second}); err != nil {
				return nil, err
			}
		}
		<-renewals // the scripts are loaded, and the connection is there
		for len(renewals) > 0 {
			<-renewals
		}
		executed, err := s.during(ctx, func() error {
			select {
			case <-time.After(time.Duration(periods) * renewingLease / 3):
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		seen.renewals, seen.lost = len(renewals), hold.Context().Err() != nil
		seen.others = executed.wire(inside(stage6Kind)) - seen.renewals
		if w != nil {
			after, err := w.ask(order{Do: usageOrder})
			if err != nil {
				return nil, err
			}
			seen.checks, seen.messages = seen.others, after.Messages-before.Messages
		}
		return nil, nil
	})
	return seen, err
}

// loopLease is how long rueidislock's lock is valid here; it extends it at half of
// that.
const loopLease = 500 * time.Millisecond

// renewRueidislock holds a lock of rueidislock with its default tracking, and
// returns how many commands it makes a second.
func renewRueidislock(ctx context.Context, d time.Duration) (rate float64, err error) {
	_, err = onServer(ctx, func(s *server) ([]row, error) {
		l, _, err := open(loopKind, settings{Addr: s.addr(), Lease: loopLease})
		if err != nil {
			return nil, err
		}
		defer l.close()
		if _, err := l.lock(ctx, "renewing"); err != nil {
			return nil, err
		}
		time.Sleep(loopLease) // it has extended it once
		executed, err := s.during(ctx, func() error {
			time.Sleep(d)
			return nil
		})
		rate = float64(executed.wire(inside(loopKind))) / d.Seconds()
		return nil, err
	})
	return rate, err
}
