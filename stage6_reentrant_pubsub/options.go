package stage6

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// DefaultWatchdogTimeout is the default lease of a lock that is renewed.
const DefaultWatchdogTimeout = 30 * time.Second

// shortestLease is long enough for a command to Redis in each third of it.
const shortestLease = 30 * time.Millisecond

// Option configures a Service.
type Option func(*Service)

// WithWatchdogTimeout sets the lease of locks that are renewed. They are renewed
// every third of it. The default is 30 s.
func WithWatchdogTimeout(d time.Duration) Option { return func(s *Service) { s.lease = d } }

// WithLayout sets the names of the keys and channels in Redis.
func WithLayout(l Layout) Option { return func(s *Service) { s.layout = l } }

// Loss describes a hold that was lost.
type Loss struct {
	Name  string
	Token int64 // the hold's token: its writes to the resource may be incomplete
	Cause error // why
}

// WithOnLost calls f in a new goroutine for each hold that is lost. Close does not wait
// for f, so f may close the service.
func WithOnLost(f func(Loss)) Option { return func(s *Service) { s.onLost = f } }

// WithMaxHold stops the renewals of a hold that lasts longer than d. Its context ends with
// ErrLost at once; its key goes with Unlock, or one lease later at most. The default, 0, is
// no limit.
func WithMaxHold(d time.Duration) Option { return func(s *Service) { s.maxHold = d } }

// WithLogger sets the logger for warnings, such as failed renewals and lost
// holds. By default nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(s *Service) { s.logger = cmp.Or(l, s.logger) } }

// WithObserver sets functions that are called for events of locks, such as for counters.
func WithObserver(o Observer) Option { return func(s *Service) { s.observer = o } }

// Observer has a function for each kind of event. Each may be nil; none may block.
type Observer struct {
	Acquired func(name string, waited time.Duration)
	Released func(name string, held time.Duration)
	Renewed  func(locks int, err error) // after each batch
	Lost     func(name string)
}

// LockOption configures one acquire.
type LockOption func(request) request

// Lease gives the hold a fixed lease that is not renewed.
func Lease(d time.Duration) LockOption {
	return func(request) request { return request{d.Truncate(time.Millisecond), d.Milliseconds(), true} }
}

func checkLease(what string, d time.Duration) error {
	if d < shortestLease {
		return fmt.Errorf("stage6: %s %v is too short: the shortest is %v", what, d, shortestLease)
	}
	return nil
}

// Layout names the keys and the channel of a lock in Redis. In a Cluster the keys have
// to be in one slot.
type Layout struct {
	Key     func(name string) string
	Channel func(name string) string
	Token   func(name string) string
}

// DefaultLayout is lock:{name}, lock__channel:{name} and lock:{name}:token.
var DefaultLayout = Layout{
	Key:     func(name string) string { return "lock:{" + name + "}" },
	Channel: func(name string) string { return "lock__channel:{" + name + "}" },
	Token:   func(name string) string { return "lock:{" + name + "}:token" },
}

// RedissonLayout uses the names of Redisson's RLock, so that Go and Java can
// share a lock.
var RedissonLayout = Layout{
	Key:     func(name string) string { return name },
	Channel: func(name string) string { return "redisson_lock__channel:" + braced(name) },
	Token:   func(name string) string { return braced(name) + ":token" },
}

// braced puts a name into braces unless it already has some.
func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}
