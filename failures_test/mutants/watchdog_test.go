package mutants_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// What a mutant of the watched lock does wrong.
const (
	renewsBlindly    mistake = "renews whatever it finds under the key"
	renewsTooLate    mistake = "renews less often than once in a lease"
	renewsSeconds    mistake = "gives PEXPIRE seconds"
	leasesForHours   mistake = "gives EX milliseconds"
	renewsWithoutEnd mistake = "sends renewals without a timeout"
	diesOfAnError    mistake = "ends its watchdog at the first error"
	ignoresAnswer    mistake = "takes a renewal that found nothing for a success"
	trustsTheNetwork mistake = "does not count its lease itself"
	countsFromReply  mistake = "counts its lease from the reply"
	startsLate       mistake = "starts its watchdog after Lock has returned"
	stopsWithoutJoin mistake = "does not wait for a renewal that is under way"
	deletesFirst     mistake = "stops its watchdog only when the key is deleted"
	stopsForGood     mistake = "stops its watchdog for good"
	knowsNoLimit     mistake = "renews for ever"
	watchesTwice     mistake = "starts a watchdog for each re-entry"
	countsTokens     mistake = "takes a plain counter for its token"
	countsSeconds    mistake = "takes the clock in seconds for its token"
	tokenAtWrite     mistake = "takes the token when it writes"
	tokenFirst       mistake = "fetches the token, and then asks for the lock"
	tokenLast        mistake = "takes the lock, and then fetches the token"
	neverStops       mistake = "does not stop its watchdog"
	renewsInContext  mistake = "renews for as long as the acquire's context lives"
	halvesAfterABlip mistake = "asks for half a lease once a renewal has failed"
	losesAtABlip     mistake = "takes a renewal that failed for a loss"
	leavesLossToDog  mistake = "believes its watchdog that nothing was lost, whatever Unlock finds"
	givesUpRenewing  mistake = "renews no more after an error, and counts its lease to the end"
	renewsFirstOnly  mistake = "renews the first hold only, and counts the lease of each to the end"
	diesOfTheSecond  mistake = "ends its watchdog at the second error"
	renewsByTheClock mistake = "renews every ten seconds, whatever its lease"
	leasesByTheClock mistake = "renews for thirty seconds, whatever its lease"
	renewsFractions  mistake = "sends EXPIRE with its lease in seconds"
	startsInLock     mistake = "starts its watchdog in Lock, and not in TryLock"
)

// watched is a small correct lock with a watchdog and fencing tokens, which mutants
// damage. It tells its holder of a loss, and does nothing else of stage 6.
type watched struct {
	rdb    redis.UniversalClient
	key    string
	lease  time.Duration
	wrong  mistake
	limit  time.Duration // how long a hold may last; 0: for ever
	fixed  bool          // the lease is not renewed
	value  string
	holds  atomic.Int32 // how often the owner has taken it; a Lock that waits reads it beside an Unlock
	token  int64
	ending bool            // the watchdog was stopped for good
	asked  context.Context // of the newest acquire
	blip   bool            // a renewal has failed

	mu     sync.Mutex
	guard  *guard   // of the present hold
	guards []*guard // all that were ever started
}

// guard renews one hold, and knows when it is lost.
type guard struct {
	cancel context.CancelFunc
	ended  chan struct{}
	idle   bool // it renews nothing
	lost   atomic.Bool
}

func watchedSubject(wrong mistake) failures.Subject {
	has := []failures.Feature{failures.Scripts, failures.Watchdog, failures.Fencing}
	if wrong == watchesTwice {
		has = append(has, failures.Reentry)
	}
	return failures.Subject{
		Name: "watched", New: newWatched(wrong, false, 0),
		Variants: map[failures.Variant]world.Constructor{
			failures.FixedLease: newWatched(wrong, true, 0),
			failures.Limited:    newWatched(wrong, false, 3),
		},
		Ignore: func(key string) bool { return strings.HasSuffix(key, ":token") },
		Has:    has,
	}
}

// newWatched makes locks with that mistake. The limit is in leases; 0 is none.
func newWatched(wrong mistake, fixed bool, limit time.Duration) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		if wrong == knowsNoLimit {
			limit = 0
		}
		return &watched{rdb: rdb, key: "lock:" + name, lease: lease, wrong: wrong, fixed: fixed, limit: limit * lease}, nil
	}
}

var (
	// takeScript takes the lock and answers the fencing token, or 0.
	takeScript = redis.NewScript(`-- take
if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
redis.call("SET", KEYS[1], ARGV[1], ARGV[3], ARGV[2])
local token = redis.call("INCR", KEYS[2])
if ARGV[4] == "counter" then return token end
if ARGV[5] then return tonumber(ARGV[5]) end
local time = redis.call("TIME")
local now = tonumber(time[1])
if ARGV[4] ~= "seconds" then now = now * 1000000 + tonumber(time[2]) end
token = math.max(token, now)
redis.call("SET", KEYS[2], string.format("%.0f", token))
return token`)
	extendScript = redis.NewScript(`-- renew
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`)
	blindScript = redis.NewScript(`-- renew
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`)
)

func (w *watched) TryLock(ctx context.Context) (bool, error) {
	if w.holds.Load() > 0 && w.wrong == watchesTwice {
		w.holds.Add(1)
		w.start(w.value, time.Now().Add(w.lease))
		return true, nil
	}
	value, unit, tokens := uuid.NewString(), "PX", "clock"
	if w.wrong == leasesForHours {
		unit = "EX"
	}
	switch w.wrong {
	case countsTokens:
		tokens = "counter"
	case countsSeconds:
		tokens = "seconds"
	}
	args := []any{value, w.lease.Milliseconds(), unit, tokens}
	if w.wrong == tokenFirst {
		clock, err := w.clock(ctx)
		if err != nil {
			return false, err
		}
		args = append(args, clock)
	}
	sent := time.Now()
	token, err := takeScript.Run(ctx, w.rdb, []string{w.key, w.key + ":token"}, args...).Int64()
	if err != nil || token == 0 {
		return false, err
	}
	if w.wrong == tokenLast {
		if token, err = w.clock(ctx); err != nil {
			return false, err
		}
	}
	w.value, w.token, w.asked = value, token, ctx
	w.holds.Store(1)
	if w.wrong == startsLate {
		time.AfterFunc(w.lease/60, func() { w.start(value, sent.Add(w.lease)) })
		return true, nil
	}
	if w.wrong != startsInLock {
		w.start(value, w.from(sent).Add(w.lease))
	}
	return true, nil
}

// clock is the server's, in microseconds.
func (w *watched) clock(ctx context.Context) (int64, error) {
	now, err := w.rdb.Time(ctx).Result()
	return now.UnixMicro(), err
}

// from is when a lease began whose command was sent then and answered now.
func (w *watched) from(sent time.Time) time.Time {
	if w.wrong == countsFromReply {
		return time.Now()
	}
	return sent
}

func (w *watched) Lock(ctx context.Context) error {
	err := poll(ctx, w.TryLock)
	if err == nil && w.wrong == startsInLock {
		w.start(w.value, time.Now().Add(w.lease))
	}
	return err
}

func (w *watched) Unlock(ctx context.Context) error {
	if w.holds.Load() == 0 {
		return errNotHeld
	}
	if w.holds.Add(-1) > 0 {
		return nil
	}
	g := w.guard
	if w.wrong != deletesFirst {
		w.stop()
	}
	n, err := freeScript.Run(ctx, w.rdb, []string{w.key}, w.value).Int()
	if err != nil {
		return err
	}
	w.stop()
	if n == 0 && (w.wrong != leavesLossToDog || g.lost.Load()) {
		return errNotHeld
	}
	return nil
}

// start begins to renew. It has begun when start returns.
func (w *watched) start(value string, deadline time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending && w.wrong == stopsForGood {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if w.wrong == renewsInContext {
		ctx, cancel = context.WithCancel(w.asked)
	}
	g := &guard{cancel: cancel, ended: make(chan struct{}), idle: w.ending && w.wrong == renewsFirstOnly}
	w.guard, w.guards = g, append(w.guards, g)
	go w.watch(ctx, g, value, deadline)
}

func (w *watched) stop() {
	w.mu.Lock()
	g := w.guard
	w.guard, w.ending = nil, true
	w.mu.Unlock()
	if g == nil || w.wrong == neverStops {
		return
	}
	g.cancel()
	if w.wrong != stopsWithoutJoin {
		<-g.ended
	}
}

// watch renews until it is stopped, or the hold is lost.
func (w *watched) watch(ctx context.Context, g *guard, value string, deadline time.Time) {
	defer close(g.ended)
	period := w.lease / 3
	switch w.wrong {
	case renewsTooLate:
		period = w.lease + w.lease/2
	case renewsByTheClock:
		period = 10 * time.Second
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	begun := time.Now()
	blips := 0
	for {
		end := deadline
		if w.limit > 0 && begun.Add(w.limit).Before(end) {
			end = begun.Add(w.limit)
		}
		over := time.NewTimer(time.Until(end))
		if w.wrong == trustsTheNetwork {
			over.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-over.C:
		case <-ticker.C:
		}
		over.Stop()
		if !time.Now().Before(end) && w.wrong != trustsTheNetwork {
			g.lost.Store(true)
			return
		}
		if w.fixed || g.idle || blips > 0 && w.wrong == givesUpRenewing {
			continue
		}
		sent := time.Now()
		renewed, err := w.renew(ctx, value, end)
		w.blip = w.blip || err != nil
		if err != nil {
			blips++
		}
		switch {
		case err != nil && (w.wrong == diesOfAnError || w.wrong == diesOfTheSecond && blips == 2):
			return
		case err != nil && w.wrong == losesAtABlip:
			g.lost.Store(true)
			return
		case err == nil && !renewed && w.wrong != ignoresAnswer:
			g.lost.Store(true)
			return
		case err == nil:
			deadline = w.from(sent).Add(w.lease)
		}
	}
}

// renew makes one attempt, which ends with the hold at the latest.
func (w *watched) renew(ctx context.Context, value string, end time.Time) (bool, error) {
	if w.wrong != renewsWithoutEnd {
		by := time.Now().Add(w.lease / 6)
		if end.Before(by) && w.wrong != trustsTheNetwork {
			by = end
		}
		limited, cancel := context.WithDeadline(ctx, by)
		defer cancel()
		ctx = limited
	}
	if w.wrong == renewsFractions {
		return w.rdb.Do(ctx, "EXPIRE", w.key, w.lease.Seconds()).Bool()
	}
	script, lease := extendScript, w.lease.Milliseconds()
	if w.wrong == renewsBlindly {
		script = blindScript
	}
	if w.wrong == halvesAfterABlip && w.blip {
		lease /= 2
	}
	switch w.wrong {
	case renewsSeconds:
		lease = int64(w.lease.Seconds())
	case leasesByTheClock:
		lease = 30_000
	}
	return script.Run(ctx, w.rdb, []string{w.key}, value, lease).Bool()
}

// Token is that of the hold.
func (w *watched) Token(context.Context) int64 {
	if w.wrong == tokenAtWrite {
		return time.Now().UnixMicro()
	}
	return w.token
}

// Lost tells when the watchdog of the hold has ended, and whether for a loss.
func (w *watched) Lost(context.Context) (<-chan struct{}, func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.guard == nil {
		return nil, nil
	}
	return w.guard.ended, w.guard.lost.Load
}

// Close ends the watchdogs that nobody has stopped.
func (w *watched) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.guards {
		g.cancel()
	}
	return nil
}
