package main

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
)

const (
	rueidisReadme = "rueidislock/README.md"
	rueidisLock   = "rueidislock/lock.go"
)

var rueidislockLibrary = library{
	Name: "rueidislock", Module: "github.com/redis/rueidis", Live: true,
	Source: "https://github.com/redis/rueidis/blob/",
	Way:    "one key, NoLoopTracking; WithContext, cancel; it renews by itself",
	Subject: failures.Subject{
		Name: "rueidislock", New: newRueidislock(true),
		Has:         []failures.Feature{failures.Scripts, failures.Watchdog, failures.PubSub},
		AttributeTo: rueidisAttribution,
		SkipFrames:  []string{"github.com/redis/rueidis."},
	},
	Untold: map[string]string{
		"late-unlock":                "its Unlock and its next attempt go through one connection, so neither overtakes the other",
		"pool-starved":               "its client sends everything through one connection of its own, which no command of the business occupies",
		"dog-unlock-race":            "it renews first after half of the lease, and this story is over by then",
		"unlock-while-renewal-hangs": "it renews first after half of the lease, and this story is over by then",
		"resubscribe-refused":        "there is no SUBSCRIBE to be refused: its attempt itself makes Redis watch the key",
		"wake-lost":                  "there is no SUBSCRIBE to be late: its attempt itself makes Redis watch the key",
		"wake-early":                 "it has no second attempt that a message could overtake",
		"wake-eaten":                 "the story's deadline is no moment of rueidislock's; go run ./cards defects tells it with one that is",
	},
	Promises: map[property]promise{
		excludes: {promised, "WithContext returns once it has the lock", rueidisReadme, 64, "is returned as the lock"},
		ends:     {promised, "a lock has a validity, 5 s by default", rueidisReadme, 44, "KeyValidity"},
		renews:   {promised, "it extends the validity periodically", rueidisReadme, 66, "extend"},
		tellsLoss: {promised, "the context is cancelled immediately once the key is not held any more, also when Redis cannot be reached",
			rueidisReadme, 54, "canceled automatically"},
		owned: {promised, "it is the lock of the Redis documentation, which frees only its own value",
			rueidisReadme, 3, "Redis Distributed Lock Pattern"},
		limits:    {limited, "it extends the validity for as long as the context lives", rueidisReadme, 66, "extend"},
		wakes:     {promised, "a waiter tries again immediately once the lock is released", rueidisReadme, 57, "immediately"},
		lateGrant: {promised, "the keys have to be acquired within their validity", rueidisReadme, 64, "within the `KeyValidity`"},
		frees:     {promised, "cancel releases, and takes no context", rueidisReadme, 35, "cancel()"},
		answers:   {promised, "TryWithContext may return ErrNotLocked", rueidisLock, 45, "ErrNotLocked"},
		outlasts: {limited, "it is the lock of the Redis documentation, which names these limits",
			rueidisReadme, 3, "Redis Distributed Lock Pattern"},
		forces: {limited, "ForceWithContext takes a lock over; nothing frees one", rueidisLock, 47, "takes over"},
	},
}

// rueidisLocker is rueidislock as its README says for one Redis >= 7.0.5: one key,
// NoLoopTracking, WithContext, and cancel to release. Its client is rueidis's own;
// only the connections are the world's.
type rueidisLocker struct {
	*adapt.Holds[*rueidisHold]
	option rueidislock.LockerOption
	name   string

	mu     sync.Mutex
	locker rueidislock.Locker // made by the first call: making it asks Redis
}

func newRueidislock(noLoop bool) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		client, ok := rdb.(*redis.Client)
		if !ok {
			return nil, errors.New("rueidislock: there is no wire to dial")
		}
		l := &rueidisLocker{name: name, option: rueidislock.LockerOption{
			ClientBuilder: newAttributed,
			KeyMajority:   1, NoLoopTracking: noLoop, KeyValidity: lease, TryNextAfter: lease / 5,
			ClientOption: rueidis.ClientOption{
				InitAddress:       []string{"127.0.0.1:6379"},
				ForceSingleClient: true,
				ClientSetInfo:     rueidis.DisableClientSetInfo,
				Dialer:            net.Dialer{KeepAlive: time.Hour}, // else it pings, which is none of the lock's business
				DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return client.Options().Dialer(ctx, client.Options().Network, client.Options().Addr)
				},
			},
		}}
		l.Holds = &adapt.Holds[*rueidisHold]{
			Acquire: l.acquire(rueidislock.Locker.WithContext),
			Try:     l.acquire(rueidislock.Locker.TryWithContext), Taken: errTaken,
			Release: (*rueidisHold).release,
			Loss: func(h *rueidisHold) (<-chan struct{}, func() bool) {
				return h.ctx.Done(), func() bool { return !h.released.Load() }
			},
		}
		return l, nil
	}
}

var (
	// errTaken is what an attempt ends with while somebody else has the lock.
	errTaken = errors.New("rueidislock: somebody else has the lock")
	// errNilCancel goes with an error where a deferred cancel would panic.
	errNilCancel = errors.New("rueidislock: cancel is nil")
)

// open makes the locker.
func (l *rueidisLocker) open() (rueidislock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.locker == nil {
		l.locker, err = rueidislock.NewLocker(l.option)
	}
	return l.locker, err
}

type withContext func(rueidislock.Locker, context.Context, string) (context.Context, context.CancelFunc, error)

// acquire bounds the wait by the caller's context, but not the hold: rueidislock
// takes one context for both, and would give the lock up when a deadline passes
// that was meant for the waiting.
func (l *rueidisLocker) acquire(with withContext) func(context.Context) (*rueidisHold, error) {
	return func(ctx context.Context) (*rueidisHold, error) {
		locker, err := l.open()
		if err != nil {
			return nil, err
		}
		whole, end := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(ctx, end)
		holding, cancel, err := with(locker, whole, l.name)
		stop()
		switch {
		case err == nil:
			return &rueidisHold{ctx: holding, cancel: func() { cancel(); end() }}, nil
		case errors.Is(err, rueidislock.ErrNotLocked) && ctx.Err() == nil:
			err = errTaken
		case cancel == nil:
			err = errors.Join(err, errNilCancel)
		}
		end()
		return nil, said(ctx, fromRedis(err))
	}
}

// Close ends the client.
func (l *rueidisLocker) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker != nil {
		l.locker.Close()
	}
	return nil
}

type rueidisHold struct {
	ctx      context.Context
	cancel   context.CancelFunc
	released atomic.Bool // by its holder
}

// release invokes cancel, which tells nothing. The holder looks at its context
// first, as it would to know whether its work was protected.
func (h *rueidisHold) release(context.Context) error {
	if h.released.Swap(true) {
		return errNotHeld
	}
	lost := h.ctx.Err() != nil
	h.cancel()
	return released(!lost, nil)
}

// fromRedis marks an error that Redis answered, as go-redis does: whoever reads it
// must not take it for the lock's own word.
func fromRedis(err error) error {
	if _, is := rueidis.IsRedisErr(err); is {
		return serverError{err}
	}
	return err
}

type serverError struct{ error }

// RedisError marks it.
func (serverError) RedisError() {}

// Unwrap is the library's error.
func (e serverError) Unwrap() error { return e.error }

// attributed is rueidis's client, which sends everything from one goroutine. It
// notes whose value a script is sent with, so that the world can tell whose call the
// script belongs to. It changes nothing of what is sent.
type attributed struct{ rueidis.Client }

// senders are the clients by the values of their holds, which are random.
var senders sync.Map

func newAttributed(option rueidis.ClientOption) (rueidis.Client, error) {
	client, err := rueidis.NewClient(option)
	return attributed{client}, err
}

// Do sends a command.
func (c attributed) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if lane, value := world.Lane(ctx), valueOf(cmd.Commands()); lane != "" && value != "" {
		senders.LoadOrStore(value, lane)
	}
	return c.Client.Do(ctx, cmd)
}

// valueOf is the hold's value in a script of rueidislock's: EVALSHA sha 1 key value
// deadline.
func valueOf(args []string) string {
	if len(args) != 6 || !strings.HasPrefix(args[0], "EVAL") {
		return ""
	}
	return args[4]
}

// rueidisAttribution tells whose call a script belongs to. Renewals are nobody's: the
// lock sends them by itself.
func rueidisAttribution(args []string) (client string, is bool) {
	value := valueOf(args)
	if value != "" && isRenewal(args[1]) {
		return "", false
	}
	lane, _ := senders.Load(value)
	client, _ = lane.(string)
	return client, true
}

// renewals are the SHA1s of the scripts that renew, as a rehearsal saw them.
var renewals sync.Map

// noteRenewals learns which of the scripts renew.
func noteRenewals(scripts []string) {
	for _, source := range scripts {
		if isRenewal(source) {
			renewals.Store(fmt.Sprintf("%x", sha1.Sum([]byte(source))), true)
		}
	}
}

// isRenewal tells of a script, or of its SHA1, whether it renews.
func isRenewal(script string) bool {
	_, is := renewals.Load(script)
	return is || strings.Contains(script, "PEXPIREAT")
}
