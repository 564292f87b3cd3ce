package others

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
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
)

// Rueidislock is rueidislock as its README configures it for one Redis >= 7.0.5. It needs a real
// Redis, because its client requests notifications of changed keys.
var Rueidislock = failures.Subject{
	Name: "rueidislock", New: adapters.Plain(newRueidislock),
	Has:         []failures.Feature{failures.Scripts, failures.Watchdog, failures.PubSub, failures.HoldContext},
	AttributeTo: clientOf,
	SkipFrames:  []string{"github.com/redis/rueidis."},
}

// rueidisLocker uses rueidis's own client on the connections of the world.
type rueidisLocker struct {
	*adapters.Holds[*rueidisHold]
	name   string
	option rueidislock.LockerOption

	mu     sync.Mutex
	locker rueidislock.Locker // made by the first call: its constructor sends commands
}

func newRueidislock(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	client, ok := rdb.(*redis.Client)
	if !ok {
		return nil, fmt.Errorf("rueidislock: a %T has no dialer to copy", rdb)
	}
	l := &rueidisLocker{name: name, option: rueidislock.LockerOption{
		ClientBuilder: newAttributedClient,
		KeyMajority:   1, NoLoopTracking: true, KeyValidity: lease, TryNextAfter: lease / 5,
		ClientOption: rueidis.ClientOption{
			InitAddress:       []string{"127.0.0.1:6379"},
			ForceSingleClient: true,
			ClientSetInfo:     rueidis.DisableClientSetInfo,
			Dialer:            net.Dialer{KeepAlive: time.Hour}, // no PING during a scenario
			DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return client.Options().Dialer(ctx, client.Options().Network, client.Options().Addr)
			},
		},
	}}
	l.Holds = &adapters.Holds[*rueidisHold]{
		Acquire: l.acquire(rueidislock.Locker.WithContext),
		Try:     l.acquire(rueidislock.Locker.TryWithContext), Taken: errTaken,
		Release: (*rueidisHold).release,
		Loss: func(h *rueidisHold) (<-chan struct{}, func() bool) {
			return h.ctx.Done(), func() bool { return !h.released.Load() }
		},
	}
	return l, nil
}

var errTaken = errors.New("rueidislock: another client holds the lock")

// open returns the library's locker.
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

// acquire ends the wait with the caller's context, but not the hold. rueidislock uses one context
// for both, and would release the lock at the deadline of the wait.
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
		if err == nil {
			return &rueidisHold{ctx: holding, cancel: func() { cancel(); end() }}, nil
		}
		end()
		if errors.Is(err, rueidislock.ErrNotLocked) && ctx.Err() == nil {
			err = errTaken
		}
		if _, is := rueidis.IsRedisErr(err); is {
			err = serverError{err}
		}
		return nil, withContextError(ctx, err)
	}
}

// Close closes the client.
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

// release calls cancel, which returns no error. It checks the hold's context first, as a caller
// would to know whether its work was protected.
func (h *rueidisHold) release(context.Context) error {
	if h.released.Swap(true) {
		return errNotHeld
	}
	lost := h.ctx.Err() != nil
	h.cancel()
	return released(!lost, nil)
}

// serverError makes an error reply of Redis a [redis.Error].
type serverError struct{ error }

// RedisError marks the type as a [redis.Error].
func (serverError) RedisError() {}

// Unwrap returns the library's error.
func (e serverError) Unwrap() error { return e.error }

// attributedClient records which client uses which value, because rueidis sends the commands of all
// callers from one goroutine.
type attributedClient struct{ rueidis.Client }

// senders maps the random values of holds to the names of clients.
var senders sync.Map

func newAttributedClient(option rueidis.ClientOption) (rueidis.Client, error) {
	client, err := rueidis.NewClient(option)
	return attributedClient{client}, err
}

// Do sends a command.
func (c attributedClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if lane, value := world.ClientName(ctx), holdValue(cmd.Commands()); lane != "" && value != "" {
		senders.LoadOrStore(value, lane)
	}
	return c.Client.Do(ctx, cmd)
}

// holdValue returns the value of the hold in EVALSHA sha 1 key value deadline, and "" for any other
// command.
func holdValue(args []string) string {
	if len(args) != 6 || !strings.HasPrefix(args[0], "EVAL") {
		return ""
	}
	return args[4]
}

// clientOf returns the client whose call sends a script. Renewals belong to no call.
func clientOf(args []string) (client string, isCall bool) {
	value := holdValue(args)
	if value != "" {
		if _, renews := renewals.Load(args[1]); renews || isRenewal(args[1]) {
			return "", false
		}
	}
	sender, _ := senders.Load(value)
	client, _ = sender.(string)
	return client, true
}

// renewals has the SHA1 sums of the scripts that renew.
var renewals sync.Map

// noteRenewals fills renewals, before the first scenario.
func noteRenewals(scripts []string) {
	for _, source := range scripts {
		if isRenewal(source) {
			renewals.Store(fmt.Sprintf("%x", sha1.Sum([]byte(source))), true)
		}
	}
}

func isRenewal(source string) bool { return strings.Contains(source, "PEXPIREAT") }
