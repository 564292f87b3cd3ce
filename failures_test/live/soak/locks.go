//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// locks is what a worker locks with.
type locks interface {
	// acquire takes the lock of that name for an owner of its own.
	acquire(ctx context.Context, name string, how manner) (held, error)
	// Close ends what is running, and frees nothing that is not its own.
	io.Closer
}

// manner is how an acquire is made.
type manner struct {
	try     bool          // one attempt
	patient time.Duration // 0: as long as ctx lasts
	fixed   bool          // the lease is not renewed, where the lock knows the difference
}

// held is one hold.
type held interface {
	// Context ends when the hold is lost, if the lock tells.
	Context() context.Context
	lost() bool
	Token() int64   // 0: the lock has no tokens
	reenter() error // errNoReentry where the lock knows none
	unlock() (how string, err error)
}

// errRefused says that somebody else holds the lock.
var errRefused = errors.New("somebody else holds the lock")

// findLock is the stage of that name.
func findLock(name string) (stages.Stage, error) {
	var names []string
	for _, stage := range stages.All {
		if stage.Subject.Name == name {
			return stage, nil
		}
		names = append(names, stage.Subject.Name)
	}
	return stages.Stage{}, fmt.Errorf("there is no lock %q: choose one of %s", name, strings.Join(names, ", "))
}

// finalLock is used as a program would use it, one service for each process.
const finalLock = "stage6"

func isFinal(lock string) bool { return lock == finalLock }

// connect makes a client as a program would: go-redis's defaults, and the one
// option without which deadlines do not count. readTimeout 0 is its default, too.
func connect(socket string, readTimeout time.Duration) *redis.Client {
	logging.Disable() // it would print lines of its own for each fault
	return redis.NewClient(&redis.Options{
		Network: "unix", Addr: socket, ContextTimeoutEnabled: true, ReadTimeout: readTimeout,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func newLocks(o orders, rdb *redis.Client) (locks, error) {
	if isFinal(o.Lock) {
		svc, err := stage6.NewService(rdb, stage6.WithWatchdogTimeout(o.Lease))
		if err != nil {
			return nil, err
		}
		return service{svc, o.Lease}, nil
	}
	stage, err := findLock(o.Lock)
	if err != nil {
		return nil, err
	}
	return owners{stage.Subject, rdb, o.Lease}, nil
}

// service is stage 6: one service for all goroutines of the process.
type service struct {
	*stage6.Service
	lease time.Duration
}

func (s service) acquire(ctx context.Context, name string, how manner) (held, error) {
	m, err := s.Mutex(name)
	if err != nil {
		return nil, err
	}
	var opts []stage6.LockOption
	if how.fixed {
		opts = append(opts, stage6.Lease(s.lease))
	}
	var h *stage6.Hold
	switch {
	case how.try:
		h, err = m.TryLock(ctx, opts...)
	case how.patient > 0:
		h, err = m.TryLockFor(ctx, how.patient, opts...)
	default:
		h, err = m.Lock(ctx, opts...)
	}
	if errors.Is(err, stage6.ErrLocked) {
		err = errRefused
	}
	if err != nil {
		return nil, err
	}
	return hold6{h, m}, nil
}

type hold6 struct {
	*stage6.Hold
	mutex *stage6.Mutex
}

func (h hold6) lost() bool { return context.Cause(h.Context()) == stage6.ErrLost }

// reenter takes the lock once more and gives that back. An error that is no
// [errWrong] is one of the network, or of a hold that was lost.
func (h hold6) reenter() error {
	inner, err := h.mutex.Lock(h.Context())
	if err != nil {
		return err
	}
	if inner.Token() != h.Token() {
		err = fmt.Errorf("%w: its token is %d, that of the outer hold %d", errWrong, inner.Token(), h.Token())
	}
	return errors.Join(err, inner.Unlock())
}

var (
	errWrong     = errors.New("re-entry") // broke its promise
	errNoReentry = errors.New("the lock is not re-entrant")
)

func (h hold6) unlock() (string, error) {
	err := h.Unlock()
	switch {
	case err == nil:
		return freed, nil
	case errors.Is(err, stage6.ErrLost):
		return gone, err
	}
	return unknown, err
}

// owners are the stages before: each acquire has a lock of its own.
type owners struct {
	subject failures.Subject
	rdb     *redis.Client
	lease   time.Duration
}

func (o owners) Close() error { return nil }

func (o owners) acquire(ctx context.Context, name string, how manner) (held, error) {
	l, err := o.subject.New(o.rdb, name, o.lease)
	if err != nil {
		return nil, err
	}
	if how.try {
		ok, err := l.TryLock(ctx)
		if err == nil && !ok {
			err = errRefused
		}
		return owner{l}, err
	}
	if how.patient > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, how.patient)
		defer cancel()
	}
	err = l.Lock(ctx)
	var network net.Error
	if ctx.Err() != nil && err != nil && !errors.As(errors.Unwrap(err), &network) {
		err = errRefused
	}
	return owner{l}, err
}

// owner is a hold that nobody tells of its loss.
type owner struct{ failures.Locker }

func (owner) Context() context.Context { return context.Background() }
func (owner) lost() bool               { return false }
func (owner) Token() int64             { return 0 }
func (owner) reenter() error           { return errNoReentry }

// unlock gives a server that stands still time to go on. The stages' own error for
// a hold that is gone ends in the same words.
func (o owner) unlock() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := o.Unlock(ctx)
	switch {
	case err == nil:
		return freed, nil
	case strings.HasSuffix(err.Error(), "lock is not held"):
		return gone, err
	}
	return unknown, err
}
