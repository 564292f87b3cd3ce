// Package stage6 is the lock you could ship: re-entrant, with waiters that are
// woken by pub/sub, a watchdog, fencing tokens, and a holder who is told when its
// hold is lost.
//
//	svc, err := stage6.NewService(rdb)
//	m, err := svc.Mutex("order:1001")
//	hold, err := m.Lock(ctx)
//	defer hold.Unlock()
//	work(hold.Context())
//
// The context is the thread, and the hold is the proof. Go has no thread id, so
// ownership travels in hold.Context(): a Lock with it re-enters, a Lock with any
// other context competes, also in the same process. Goroutines that are handed
// one held context share the ownership.
//
// What no lock with a lease can promise: that a holder who stands still for longer
// than its lease does not write. hold.Token() is for the resource, which can
// refuse a token older than one it has seen.
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

// Service makes the locks of one process and keeps them: it renews their leases
// and listens for those who wait. One for each process and Redis is enough. It is
// safe for concurrent use.
type Service struct {
	rdb      redis.UniversalClient
	lease    time.Duration
	millis   any // of the lease
	maxHold  time.Duration
	layout   Layout
	onLost   func(Loss)
	logger   *slog.Logger
	observer Observer

	id     string          // of this process: what the names of its owners begin with
	owners atomic.Int64    // how many there have been
	ctx    context.Context // ends when the service is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup // what Close waits for
	ended  chan struct{}  // closed when Close has done its work

	cleanUps atomic.Int32 // how many have begun within the last lease
	batch    atomic.Int32 // how many locks one command renews at most
	received atomic.Int64 // when the subscription last brought something, or broke, as Unix nanoseconds

	mu      sync.Mutex
	done    bool                  // Close has released every hold: an Unlock sends nothing
	watched map[*ownership]bool   // those whose leases it looks after
	timer   *time.Timer           // of the watchdog
	wakesAt time.Time             // when the timer goes off; zero: it does not
	queues  map[string]*waitQueue // by key: where this process waits
	spare   *waitQueue            // one that nobody uses, for the next Lock; may be nil
	sub     *redis.PubSub         // the one subscription, nil while nobody listens
}

// NewService uses the client as it is: its options, hooks and failover stay. It
// refuses a client on which a lock would not work, and says how to mend it: nil, a
// Ring, an AutoPipeliner, an unknown type, and one without ContextTimeoutEnabled, since go-redis
// would then ignore the deadlines that the lock sets.
func NewService(rdb redis.UniversalClient, opts ...Option) (*Service, error) {
	s := &Service{
		rdb: rdb, lease: DefaultWatchdogTimeout, layout: DefaultLayout, logger: slog.New(slog.DiscardHandler),
		id: uuid.NewString() + ":", queues: map[string]*waitQueue{}, watched: map[*ownership]bool{}, ended: make(chan struct{}),
	}
	s.batch.Store(100)
	if rdb == nil || reflect.ValueOf(rdb).Kind() == reflect.Pointer && reflect.ValueOf(rdb).IsNil() {
		return nil, errors.New("stage6: client is nil: pass what redis.NewClient, NewFailoverClient or NewClusterClient returns")
	}
	var deadlines bool
	switch c := rdb.(type) {
	case *redis.Client:
		deadlines = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		deadlines = c.Options().ContextTimeoutEnabled
		s.batch.Store(1) // the keys of one command have to be in one slot, and locks rarely share one
	default:
		return nil, fmt.Errorf("stage6: no lock works on a %T: pass the *redis.Client or *redis.ClusterClient of one server, Sentinel or Cluster", rdb)
	}
	if !deadlines {
		return nil, errors.New("stage6: client ignores the deadlines of contexts: set ContextTimeoutEnabled in its options")
	}
	for _, opt := range opts {
		opt(s)
	}
	s.lease, s.millis = s.lease.Truncate(time.Millisecond), s.lease.Milliseconds() // as Redis keeps it
	if err := checkLease("watchdog timeout", s.lease); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(time.Duration(1<<63-1), s.look)
	return s, nil
}

// Mutex returns the lock of that name. All of one name are one lock. An empty name is an
// error, and one for which the layout gives no names, or one name to two things. In a Cluster a
// name with which it needs more than one slot is refused by Redis (CROSSSLOT), by each Lock.
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

// Close releases every hold of the service, ends those who wait with ErrClosed,
// and returns when all its goroutines and every Lock and Unlock under way have ended, also an
// Unlock that began meanwhile, a lease later at most where Redis does not answer. What a Lock
// under way gets is freed. It does not wait for OnLost, which may close the service itself. The
// client stays open. Closing twice is no error: the second one waits for the first.
func (s *Service) Close() error {
	s.mu.Lock()
	second := s.isClosed()
	s.cancel() // with the lock held: from now on nothing begins
	s.timer.Stop()
	watched := slices.Collect(maps.Keys(s.watched))
	s.mu.Unlock()
	if second {
		<-s.ended
		return nil
	}
	defer close(s.ended)
	ctx, cancel := context.WithTimeout(context.Background(), s.lease)
	defer cancel()
	errs := make([]error, len(watched))
	releasing := make(chan struct{}, closingAtOnce)
	for i, o := range watched {
		releasing <- struct{}{}
		go func() {
			errs[i] = o.release(ctx, ErrClosed)
			<-releasing
		}()
	}
	for range closingAtOnce { // full again: each has ended
		releasing <- struct{}{}
	}
	s.mu.Lock()
	s.done = true // no Unlock begins from now on that tasks would have to wait for
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() { s.tasks.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done(): // an acquire hangs, on a client without a read timeout
	}
	for i, o := range watched { // at the end: an observer that panics keeps no lock
		if errs[i] == nil {
			o.tellReleased()
		} else if errors.Is(errs[i], ErrLost) || errors.Is(errs[i], ErrNotHeld) { // it was over already
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

// closingAtOnce is how many holds Close releases side by side.
const closingAtOnce = 64

// begin has Close wait until tasks.Done is called. It does not, and returns false,
// once the service is closed.
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
