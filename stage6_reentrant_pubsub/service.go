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
	"cmp"
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
	rdb       redis.UniversalClient
	isCluster bool
	lease     time.Duration
	millis    any // the lease as scripts get it
	maxHold   time.Duration
	layout    layout
	onLost    func(Loss)
	logger    *slog.Logger
	observer  Observer

	id     string          // identifies this process: the names of its owners begin with it
	owners atomic.Int64    // number of owners so far
	ctx    context.Context // ends when the service is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup // the calls and goroutines that Close waits for
	ended  chan struct{}  // closed when Close has finished
	batch  atomic.Int32   // maximum number of locks that one command is about

	mu       sync.Mutex
	done     bool                  // Close has released every hold: an Unlock sends nothing
	watched  map[string]*ownership // by key: the owners whose leases the watchdog manages
	timer    *time.Timer           // the watchdog's timer
	wakesAt  time.Time             // when the timer fires; zero: it is not set
	orphans  []*orphan             // owners that may have got a lock that no caller knows of, ordered by until
	dropped  int                   // number of orphans that were given up, since the list was full
	cleaning bool                  // the goroutine of the orphans runs

	queues   map[string]*waitQueue   // by key: the waiters of this process
	spare    *waitQueue              // an unused queue for the next Lock; may be nil
	channels map[string][]*waitQueue // by channel: those that have waited for a message
	sub      *redis.PubSub           // the one subscription; nil while it is closed
	retryIn  time.Duration           // pause before the subscription connects again
	missed   int                     // number of holds in a row that have ended without a message

	telling sync.Mutex
	untold  []func()             // the next calls of the logger and the observer
	warned  map[string]time.Time // by message: when the log was last told
}

// NewService returns a service that uses the client with the client's own options, hooks and
// failover. It refuses a client on which a lock would not work; the error names the remedy.
// Refused are nil, a Ring, an AutoPipeliner, an unknown type, and a client without
// ContextTimeoutEnabled or with a ReadTimeout or WriteTimeout of -2, since go-redis would then
// ignore the deadlines that the lock sets.
func NewService(rdb redis.UniversalClient, opts ...Option) (*Service, error) {
	s := &Service{
		rdb: rdb, lease: DefaultWatchdogTimeout, retryIn: passingPause, logger: slog.New(slog.DiscardHandler), id: uuid.NewString() + ":", ended: make(chan struct{}),
		watched: map[string]*ownership{}, queues: map[string]*waitQueue{}, channels: map[string][]*waitQueue{}, warned: map[string]time.Time{},
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
		s.isCluster = true
		s.batch.Store(1) // the keys of one command have to be in one slot, and locks rarely share one
	case *redis.AutoPipeliner:
		return nil, errors.New("stage6: no lock works on a *redis.AutoPipeliner: it executes a command whose context has ended, and returns no error: pass the client that it was made of")
	default:
		return nil, fmt.Errorf("stage6: no lock works on a %T: pass the *redis.Client or *redis.ClusterClient of one server, Sentinel or Cluster", rdb)
	}
	if deadlines && timeout < 0 {
		return nil, errors.New("stage6: client sets no deadlines on its sockets: its ReadTimeout and WriteTimeout must not be -2")
	}
	if !deadlines {
		return nil, errors.New("stage6: client ignores the deadlines of contexts: set ContextTimeoutEnabled in its options")
	}
	for _, opt := range append([]Option{WithPrefix("lock:")}, opts...) {
		if opt == nil {
			return nil, errors.New("stage6: an option is nil: leave it out")
		}
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

// Mutex returns the lock of that name; equal names are the same lock. It refuses an empty name. In a
// Cluster Redis refuses each Lock (CROSSSLOT) if the prefix or, with WithRedissonNames, the name has
// braces that put the lock's keys into different slots.
func (s *Service) Mutex(name string) (*Mutex, error) {
	if name == "" {
		return nil, errors.New("stage6: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	m := &Mutex{svc: s, name: name}
	m.key, m.token, m.channel = s.layout(name)
	m.inContext, m.toAcquire, m.toFree = heldKey{s, m.key}, []any{2, m.key, m.token}, []any{1, m.key, m.channel}
	return m, nil
}

// Close ends the contexts of all holds and all waits with ErrClosed, and then releases the holds. It
// returns when the service's goroutines and every Lock and Unlock under way have ended, also an Unlock that
// begins during Close, or after one lease if Redis does not answer. A lock that a Lock under
// way still gets is freed. Close waits half a lease at most for the logger and the observer, and does not
// wait for OnLost, which may close the service itself.
// The client stays open. A second Close is no error: it waits for the first.
func (s *Service) Close() error {
	s.mu.Lock()
	second := s.isClosed()
	s.cancel() // with s.mu held: from now on begin returns false
	s.timer.Stop()
	holds := slices.SortedFunc(maps.Values(s.watched), byOwner)
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
	inParallel(64, len(holds), func(i int) { errs[i] = holds[i].free(ctx) })
	s.mu.Lock()
	s.done = true // from now on an Unlock does not use tasks
	s.mu.Unlock()
	idle, told := make(chan struct{}), make(chan struct{})
	go func() { s.tasks.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done(): // an acquire is stuck, on a client without a read timeout
	}
	s.tell(func() { close(told) })
	select {
	case <-told:
	case <-time.After(s.lease / 2):
	}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, ErrLost) })...)
}

func byOwner(a, b *ownership) int { return cmp.Compare(a.owner.(string), b.owner.(string)) }

// inParallel calls f(0) to f(n-1), at most that many of them concurrently, and waits for all.
func inParallel(most, n int, f func(i int)) {
	running := make(chan struct{}, most)
	for i := range n {
		running <- struct{}{}
		go func() {
			f(i)
			<-running
		}()
	}
	for range cap(running) { // filling the channel waits for each call
		running <- struct{}{}
	}
}

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

// tell calls f, which calls the logger or the observer, after all that were told before. It does not wait.
func (s *Service) tell(f func()) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.untold = append(s.untold, f); len(s.untold) > 1 {
		return // the goroutine runs
	}
	go func() {
		for {
			f()
			s.telling.Lock()
			s.untold = s.untold[1:]
			if len(s.untold) == 0 {
				s.telling.Unlock()
				return
			}
			f = s.untold[0]
			s.telling.Unlock()
		}
	}()
}

// warn logs a message, but the same one only once in a lease.
func (s *Service) warn(message string, args ...any) {
	s.telling.Lock()
	last, now := s.warned[message], time.Now()
	isDue := last.IsZero() || now.Sub(last) >= s.lease
	if isDue {
		s.warned[message] = now
	}
	s.telling.Unlock()
	if isDue {
		s.tell(func() { s.logger.Warn(message, args...) })
	}
}

// lost tells that an owner has lost its lock.
func (s *Service) lost(o *ownership, cause error) {
	name := o.mutex.name
	s.tell(func() { s.logger.Warn("lock lost", "name", name, "token", o.token, "cause", cause) })
	s.tellLost(name)
	if s.onLost != nil {
		go s.onLost(Loss{Name: name, Token: o.token, Cause: cause})
	}
}

// tellLost calls the observer's Lost.
func (s *Service) tellLost(name string) {
	if s.observer.Lost != nil {
		s.tell(func() { s.observer.Lost(name) })
	}
}
