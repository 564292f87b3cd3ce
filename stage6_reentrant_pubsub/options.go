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

// Loss describes a lock that an owner has lost.
type Loss struct {
	Name  string
	Token int64 // the owner's token: its writes to the resource may be incomplete
	Cause error // why
}

// WithOnLost calls f in a new goroutine for each owner whose lock is lost, however many holds
// it has; not if only the last Unlock failed. Close does not wait for f, so f may close the service.
func WithOnLost(f func(Loss)) Option { return func(s *Service) { s.onLost = f } }

// WithMaxHold stops the renewals of a hold that lasts longer than d. Its context ends with
// ErrLost at once; its key goes with Unlock, or one lease later at most. A hold with a fixed
// Lease keeps that. The default, 0, is no limit.
func WithMaxHold(d time.Duration) Option { return func(s *Service) { s.maxHold = d } }

// WithLogger sets the logger for warnings, such as failed renewals and lost
// holds. By default nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(s *Service) { s.logger = cmp.Or(l, s.logger) } }

// WithObserver sets functions that are called for events of locks, such as for counters.
func WithObserver(o Observer) Option { return func(s *Service) { s.observer = o } }

// Observer has a function for each kind of event. Each may be nil. The service calls them, and the logger,
// one after the other on one goroutine: a function that blocks delays those after it, and no lock. A
// panic in one ends the process.
type Observer struct {
	Acquired func(name string, waited time.Duration)
	Released func(name string, held time.Duration) // the last Unlock has freed the lock
	Renewed  func(locks int, err error)            // after each batch
	Lost     func(name string)                     // in place of Released: also if the last Unlock failed
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

// layout returns the key, the token's key and the channel of the lock of that name. In a Cluster both keys
// are in one slot.
type layout func(name string) (key, token, channel string)

// WithPrefix sets what the names of keys and channels in Redis begin with: prefix{name}, prefix{name}:token, and
// for the channel prefix, without a last colon, and __channel:{name}. The default is "lock:".
func WithPrefix(prefix string) Option {
	return func(s *Service) {
		s.layout = func(name string) (key, token, channel string) {
			return prefix + "{" + name + "}", prefix + "{" + name + "}:token", strings.TrimSuffix(prefix, ":") + "__channel:{" + name + "}"
		}
	}
}

// WithRedissonNames uses the names of Redisson's RLock, so that Go and Java can share a lock: its key is the
// name. The token's key is {name}:token.
func WithRedissonNames() Option {
	return func(s *Service) {
		s.layout = func(name string) (key, token, channel string) {
			tag := name
			if !strings.Contains(name, "{") {
				tag = "{" + name + "}"
			}
			return name, tag + ":token", "redisson_lock__channel:" + tag
		}
	}
}
