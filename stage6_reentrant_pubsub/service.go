// Package stage6 is the lock you could ship: re-entrant, with waiters that are
// woken by pub/sub, a watchdog, fencing tokens, and a context that ends when the
// hold is lost.
//
//	svc, err := stage6.NewService(rdb)
//	m, err := svc.Mutex("order:1001")
//	hold, err := m.Lock(ctx)
//	defer hold.Unlock()
//	work(hold.Context())
//
// In Java the owner of a lock is a thread. Go has no thread id, so ownership travels in
// hold.Context(): a Lock with it re-enters, a Lock with any other context competes, also
// in the same process. Goroutines that get the context of one hold share the ownership.
//
// No lock with a lease can keep a holder from writing after it was paused for
// longer than its lease. That is what hold.Token() is for: the resource can refuse
// a token lower than one it has seen.
//
//	go run . show process-pause --stage 6
//	go run . show process-pause-fenced --stage 6
package stage6

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Service creates the locks of one process, renews their leases and subscribes
// for their waiters. A process needs one Service for each Redis. It is safe for
// concurrent use.
type Service struct {
	rdb      redis.UniversalClient
	lease    time.Duration
	millis   any // the lease as scripts get it
	maxHold  time.Duration
	layout   Layout
	onLost   func(Loss)
	logger   *slog.Logger
	observer Observer

	id     string          // identifies this process: the names of its owners begin with it
	owners atomic.Int64    // number of owners so far
	ctx    context.Context // ends when the service is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup // the calls and goroutines that Close waits for
	ended  chan struct{}  // closed when Close has finished

	cleanUps atomic.Int32 // number of clean-ups begun within the last lease
	batch    atomic.Int32 // maximum number of locks that one command renews
	received atomic.Int64 // when the subscription last received something, or broke, in Unix nanoseconds

	mu      sync.Mutex
	done    bool                  // Close has released every hold: an Unlock sends nothing
	watched map[*ownership]bool   // the owners whose leases the watchdog manages
	timer   *time.Timer           // the watchdog's timer
	wakesAt time.Time             // when the timer fires; zero: it is not set
	queues  map[string]*waitQueue // by key: the waiters of this process
	spare   *waitQueue            // an unused queue for the next Lock; may be nil
	sub     *redis.PubSub         // the one subscription; nil while it is closed
	pinged  time.Time             // when a ping was last sent over it

	channels map[string][]*waitQueue // by channel: those that have waited for a message
}

// NewService returns a service that uses the client with the client's own options, hooks and
// failover. It refuses a client on which a lock would not work; the error names the remedy.
// Refused are nil, a Ring, an AutoPipeliner, an unknown type, and a client without
// ContextTimeoutEnabled or with a ReadTimeout or WriteTimeout of -2, since go-redis would then
// ignore the deadlines that the lock sets.
func NewService(rdb redis.UniversalClient, opts ...Option) (*Service, error) {
	s := &Service{
		rdb: rdb, lease: DefaultWatchdogTimeout, layout: DefaultLayout, logger: slog.New(slog.DiscardHandler),
		id: uuid.NewString() + ":", queues: map[string]*waitQueue{}, channels: map[string][]*waitQueue{}, watched: map[*ownership]bool{}, ended: make(chan struct{}),
	}
	s.batch.Store(100)
	if rdb == nil || reflect.ValueOf(rdb).Kind() == reflect.Pointer && reflect.ValueOf(rdb).IsNil() {
		return nil, errors.New("stage6: client is nil: pass what redis.NewClient, NewFailoverClient or NewClusterClient returns")
	}
	var deadlines bool
	var timeout time.Duration // of a socket, the shorter one
	switch c := rdb.(type) {
	case *redis.Client:
		deadlines, timeout = c.Options().ContextTimeoutEnabled, min(c.Options().ReadTimeout, c.Options().WriteTimeout)
	case *redis.ClusterClient:
		deadlines, timeout = c.Options().ContextTimeoutEnabled, min(c.Options().ReadTimeout, c.Options().WriteTimeout)
		s.batch.Store(1) // the keys of one command have to be in one slot, and locks rarely share one
	default:
		return nil, fmt.Errorf("stage6: no lock works on a %T: pass the *redis.Client or *redis.ClusterClient of one server, Sentinel or Cluster", rdb)
	}
	if deadlines && timeout < 0 {
		return nil, errors.New("stage6: client sets no deadlines on its sockets: its ReadTimeout and WriteTimeout must not be -2")
	}
	if !deadlines {
		return nil, errors.New("stage6: client ignores the deadlines of contexts: set ContextTimeoutEnabled in its options")
	}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("stage6: an option is nil: leave it out")
		}
		opt(s)
	}
	if s.layout.Key == nil || s.layout.Channel == nil || s.layout.Token == nil {
		return nil, errors.New("stage6: the layout lacks a function: set Key, Channel and Token")
	}
	s.lease, s.millis = s.lease.Truncate(time.Millisecond), s.lease.Milliseconds() // as Redis keeps it
	if err := checkLease("watchdog timeout", s.lease); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(time.Duration(1<<63-1), s.look)
	return s, nil
}

// Mutex returns the lock of that name; equal names are the same lock. It refuses an empty name, and
// a name for which the layout returns an empty string, or the same string for two things. In a
// Cluster Redis refuses each Lock (CROSSSLOT) if the layout puts a lock's keys into different slots.
func (s *Service) Mutex(name string) (*Mutex, error) {
	if name == "" {
		return nil, errors.New("stage6: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	m := &Mutex{svc: s, name: name, key: s.layout.Key(name), channel: s.layout.Channel(name), token: s.layout.Token(name)}
	if m.key == "" || m.token == "" || m.channel == "" || m.key == m.token {
		return nil, fmt.Errorf("stage6: lock name %.100q: the layout gives no name, or one name to two things", name)
	}
	m.inContext, m.toAcquire, m.toFree = heldKey{s, m.key}, []any{2, m.key, m.token}, []any{1, m.key, m.channel}
	return m, nil
}

// Close ends the contexts of all holds and all waits with ErrClosed, and then releases the holds. It
// returns when the service's goroutines and every Lock and Unlock under way have ended, also an Unlock that
// begins during Close, or after one lease if Redis does not answer. A lock that a Lock under
// way still gets is freed. Close does not wait for OnLost, which may close the service itself.
// The client stays open. A second Close is no error: it waits for the first.
func (s *Service) Close() error {
	s.mu.Lock()
	second := s.isClosed()
	s.cancel() // with s.mu held: from now on begin returns false
	s.timer.Stop()
	holds := slices.Collect(maps.Keys(s.watched))
	s.mu.Unlock()
	if second {
		<-s.ended
		return nil
	}
	defer close(s.ended)
	ctx, cancel := context.WithTimeout(context.Background(), s.lease)
	defer cancel()
	holds = slices.DeleteFunc(holds, func(o *ownership) bool { return !o.finish(ErrClosed) })
	errs := make([]error, len(holds))
	releasing := make(chan struct{}, closingAtOnce)
	for i, o := range holds {
		releasing <- struct{}{}
		go func() {
			errs[i] = o.free(ctx)
			<-releasing
		}()
	}
	for range closingAtOnce { // filling the channel waits for each release
		releasing <- struct{}{}
	}
	s.mu.Lock()
	s.done = true // from now on an Unlock does not use tasks
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() { s.tasks.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done(): // an acquire is stuck, on a client without a read timeout
	}
	for i, o := range holds { // last, so that a panic in the observer does not keep a lock held
		if errs[i] == nil {
			o.tellReleased()
		} else if errors.Is(errs[i], ErrLost) {
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

// closingAtOnce is the number of holds that Close releases concurrently.
const closingAtOnce = 64

// begin makes Close wait until tasks.Done is called. Once the service is closed it
// returns false, and Close does not wait.
func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() {
		return false
	}
	s.tasks.Add(1)
	return true
}

func (s *Service) isClosed() bool { return s.ctx.Err() != nil }

func (s *Service) lost(o *ownership, cause error) {
	name := o.mutex.name
	s.logger.Warn("lock lost", "name", name, "token", o.token, "cause", cause)
	if s.observer.Lost != nil {
		s.observer.Lost(name)
	}
	if s.onLost != nil {
		go s.onLost(Loss{Name: name, Token: o.token, Cause: cause})
	}
}
