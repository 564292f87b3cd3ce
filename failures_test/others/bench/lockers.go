package main

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The kinds of locks: the columns of the table.
const (
	stage6Kind  = "stage 6"
	bsmKind     = "redislock"
	redsyncKind = "redsync"
	rueidisKind = "rueidislock"
)

var kinds = []string{stage6Kind, bsmKind, redsyncKind, rueidisKind}

// locker is a library's lock as its README says it is used, over a client of its
// own. It makes the lock of a name, for one goroutine.
type locker func(name string) (acquire, error)

// acquire waits for the lock.
type acquire func(context.Context) (held, error)

// held is a lock that is held.
type held interface{ Unlock() error }

// openers make a locker of each kind. trips is nil where they are not counted: to
// count costs time, which would be the library's.
var openers = map[string]func(t task, trips *trips) (locker, error){
	stage6Kind: openStage6, bsmKind: openRedislock, redsyncKind: openRedsync, rueidisKind: openRueidislock,
}

// goRedis is a client with the options that stage 6 asks for; the others get the
// same.
func goRedis(t task, trips *trips) *redis.Client {
	return redisserver.NewClient(t.Addr, func(o *redis.Options) {
		if trips != nil {
			o.Dialer = trips.dial
		}
	})
}

func openStage6(t task, trips *trips) (locker, error) {
	var options []stage6.Option
	if t.Lease > 0 {
		options = append(options, stage6.WithWatchdogTimeout(t.Lease))
	}
	svc, err := stage6.NewService(goRedis(t, trips), options...)
	return func(name string) (acquire, error) {
		m, err := svc.Mutex(name)
		return func(ctx context.Context) (held, error) { return m.Lock(ctx) }, err
	}, err
}

// rivalLease is the lease of the two libraries that do not renew: longer than a
// lock is held here.
const rivalLease = 60 * time.Second

// openRedislock waits as its own example does: every 100 ms.
func openRedislock(t task, trips *trips) (locker, error) {
	client := redislock.New(goRedis(t, trips))
	options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
	return func(name string) (acquire, error) {
		return func(ctx context.Context) (held, error) {
			lock, err := client.Obtain(ctx, name, rivalLease, options)
			return bsmHold{lock}, err
		}, nil
	}, nil
}

// openRedsync has one pool, and its default pause between tries. It tries as often
// as it takes; by default it gives up after 32.
func openRedsync(t task, trips *trips) (locker, error) {
	rs := redsync.New(goredis.NewPool(goRedis(t, trips)))
	return func(name string) (acquire, error) {
		m := rs.NewMutex(name, redsync.WithExpiry(rivalLease), redsync.WithTries(math.MaxInt32))
		return func(ctx context.Context) (held, error) { return redsyncHold{m}, m.LockContext(ctx) }, nil
	}, nil
}

// openRueidislock is set up as its README says for one Redis >= 7.0.5, but waits
// longer for an answer: by default, a lock whose answer takes more than 20 ms gives
// up the key again and then waits for a message that nobody sends.
func openRueidislock(t task, trips *trips) (locker, error) {
	option := rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{t.Addr}},
		KeyMajority:  1, NoLoopTracking: true, KeyValidity: t.Lease, TryNextAfter: time.Second,
	}
	if trips != nil {
		option.ClientOption.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return trips.dial(ctx, "tcp", addr)
		}
	}
	lk, err := rueidislock.NewLocker(option)
	return func(name string) (acquire, error) {
		return func(ctx context.Context) (held, error) {
			_, cancel, err := lk.WithContext(ctx, name)
			return rueidisHold(cancel), err
		}, nil
	}, err
}

// The holds of the libraries that have no Unlock of that kind are pointers, so that
// an interface of one allocates nothing that would be counted as the library's.
type (
	bsmHold     struct{ *redislock.Lock }
	redsyncHold struct{ *redsync.Mutex }
	rueidisHold context.CancelFunc
)

// Unlock releases the lock.
func (h bsmHold) Unlock() error { return h.Release(context.Background()) }

// Unlock unlocks the mutex.
func (h redsyncHold) Unlock() error {
	_, err := h.Mutex.Unlock()
	return err
}

// Unlock invokes cancel, which returns when the key is gone.
func (h rueidisHold) Unlock() error {
	h()
	return nil
}
