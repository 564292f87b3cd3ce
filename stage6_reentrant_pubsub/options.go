package stage6

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// DefaultWatchdogTimeout is the lease of a lock that is renewed.
const DefaultWatchdogTimeout = 30 * time.Second

// shortestLease leaves each third of a lease long enough for a command to Redis.
const shortestLease = 30 * time.Millisecond

// Option changes what NewService makes.
type Option func(*Service)

// WithWatchdogTimeout sets the lease of locks that are renewed, every third
// of it. The default is 30 s.
func WithWatchdogTimeout(d time.Duration) Option { return func(s *Service) { s.lease = d } }

// WithLayout sets the names of the keys and channels in Redis.
func WithLayout(l Layout) Option { return func(s *Service) { s.layout = l } }

// Loss is what is known of a hold that was lost.
type Loss struct {
	Name  string
	Token int64 // of the hold: what the resource has with this token may not be all of it
	Cause error // why
}

// WithOnLost calls f, on a goroutine of its own, for each hold that is lost. Close does
// not wait for it: f may close the service.
func WithOnLost(f func(Loss)) Option { return func(s *Service) { s.onLost = f } }

// WithMaxHold ends the renewal of a hold that lasts longer than d: its context
// ends with ErrLost at once, its key with Unlock, or one lease later at most. The default, 0,
// is no limit.
func WithMaxHold(d time.Duration) Option { return func(s *Service) { s.maxHold = d } }

// WithLogger logs failed renewals, lost holds and clean-ups. The default is to
// log nothing.
func WithLogger(l *slog.Logger) Option { return func(s *Service) { s.logger = cmp.Or(l, s.logger) } }

// WithObserver reports what happens to locks, for counters.
func WithObserver(o Observer) Option { return func(s *Service) { s.observer = o } }

// Observer is told what happens to locks. Each function may be nil; none may block.
type Observer struct {
	Acquired func(name string, waited time.Duration)
	Released func(name string, held time.Duration)
	Renewed  func(locks int, err error) // one batch
	Lost     func(name string)
}

// LockOption changes one acquire.
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

// RedissonLayout names things as Redisson's RLock does, so that both can share a
// lock.
var RedissonLayout = Layout{
	Key:     func(name string) string { return name },
	Channel: func(name string) string { return "redisson_lock__channel:" + braced(name) },
	Token:   func(name string) string { return braced(name) + ":token" },
}

// braced puts a name into braces unless it has some.
func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}
