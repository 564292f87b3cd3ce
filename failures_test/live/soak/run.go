//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// run is one soak under way: the driver's side.
type run struct {
	settings
	clock   clock
	history *history
	ledger  *ledger
	crew    *crew
	server  *redisserver.Server
	admin   *redis.Client   // past every link
	forcer  *stage6.Service // nil: the lock cannot be forced

	serverTurn sync.Mutex // who holds it may disturb the server

	mu   sync.Mutex
	errs []error // the driver's own
	end  moment
}

// slackOf is how late a process that gets its share of the processor may notice
// that a lease is over.
func slackOf(lease time.Duration) time.Duration { return max(lease/5, 100*time.Millisecond) }

func (r *run) judgement() judgement {
	return judgement{locks: r.Locks, fenced: r.fenced(), lease: r.Lease, slack: slackOf(r.Lease), until: r.end}
}

// note keeps an error of the driver's own: the run says nothing then.
func (r *run) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	r.errs = append(r.errs, err)
	r.mu.Unlock()
}

// soak makes a run and judges it. An error means that the run itself failed.
func soak(ctx context.Context, s settings) (report, error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return report{}, err
	}
	defer os.RemoveAll(dir)
	config := redisserver.Config{Socket: filepath.Join(dir, "redis")}
	if s.Restart == durable {
		// Redis writes before it answers. What a killed process has written the
		// system keeps: only a power failure would need an fsync, and a busy disk
		// makes that a fault of its own.
		config.Args = []string{"--appendonly", "yes", "--appendfsync", "no"}
	}
	r := &run{settings: s, clock: newClock(), history: newHistory(), ledger: newLedger(s.Locks, s.fenced())}
	if r.server, err = redisserver.Start(ctx, config); err != nil {
		return report{}, err
	}
	defer func() { r.server.Kill() }()
	r.admin = connect(r.server.Socket(), time.Minute) // the server may stand still
	defer r.admin.Close()
	if isFinal(s.Lock) {
		if r.forcer, err = stage6.NewService(r.admin, stage6.WithWatchdogTimeout(s.Lease)); err != nil {
			return report{}, err
		}
		defer r.forcer.Close()
	}
	r.crew = &crew{settings: s, clock: r.clock, history: r.history, ledger: r.ledger}
	defer r.crew.close()
	if err := r.crew.launch(dir, r.server.Socket()); err != nil {
		return report{}, err
	}
	lasting, over := context.WithTimeout(ctx, s.For)
	defer over()
	r.disturb(lasting)
	r.ledger.onNextRead(nil)
	r.end = r.clock.now()
	r.crew.end()
	leaked := r.leaks(ctx)
	if err := errors.Join(r.errs...); err != nil {
		return report{}, fmt.Errorf("the driver failed: %w", err)
	}
	return r.report(leaked), nil
}

// leaks finds keys of locks that are left when every lease must be over.
func (r *run) leaks(ctx context.Context) []violation {
	wait(ctx, r.Lease+slackOf(r.Lease))
	keys, err := r.admin.Keys(context.Background(), "*").Result()
	r.note(err)
	var found []violation
	for _, key := range keys {
		if isFinal(r.Lock) && strings.HasSuffix(key, ":token") {
			continue // they stay: so that tokens rise, and until a queue is looked at next
		}
		left, err := r.admin.PTTL(context.Background(), key).Result()
		r.note(err)
		how := fmt.Sprintf("for another %v", left)
		if left < 0 {
			how = "for ever"
		}
		found = append(found, violation{leakedKey, fmt.Sprintf("%s is left, %s, though every process has ended and every lease is over", key, how)})
	}
	return found
}
