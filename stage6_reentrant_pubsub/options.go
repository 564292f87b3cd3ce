package stage6

import (
	"fmt"
	"log/slog"
	"time"
)

// DefaultWatchdogTimeout is the lease of a lock that is renewed.
const DefaultWatchdogTimeout = 30 * time.Second

// shortestLease leaves each third of a lease long enough for a command to Redis.
const shortestLease = 30 * time.Millisecond

// Option changes what NewService makes.
type Option func(*Service)

// WithWatchdogTimeout sets the lease of locks that are renewed; a third of it is
// how often. The default is 30 s.
func WithWatchdogTimeout(d time.Duration) Option { return func(s *Service) { s.lease = d } }

// WithLayout sets the names of the keys and channels in Redis.
func WithLayout(l Layout) Option { return func(s *Service) { s.layout = l } }

// WithOnLost calls f, on a goroutine of its own, with the name of each lock whose
// hold is lost. Close does not wait for it: f may close the service.
func WithOnLost(f func(name string)) Option { return func(s *Service) { s.onLost = f } }

// WithMaxHold ends the renewal of a hold that lasts longer than d: its context
// ends with ErrLost at once, its key one lease later at most. The default is no
// limit.
func WithMaxHold(d time.Duration) Option { return func(s *Service) { s.maxHold = d } }

// WithLogger logs failed renewals, lost holds and clean-ups. The default is to
// log nothing.
func WithLogger(l *slog.Logger) Option {
	return func(s *Service) {
		if l != nil {
			s.logger = l
		}
	}
}

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
	return func(r request) request {
		r.lease, r.fixed = d, true
		return r
	}
}

func checkLease(what string, d time.Duration) error {
	if d < shortestLease {
		return fmt.Errorf("stage6: %s %v is too short: the shortest is %v", what, d, shortestLease)
	}
	return nil
}
