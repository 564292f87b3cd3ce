//go:build live && unix

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/live/realredis"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// job is the task of a worker process.
type job struct {
	settings
	Clock   clock
	Process int64  // 1, 2, … in the order of their starts
	Redis   string // the address of its proxy
	Ledger  string
}

// worker is a process that uses the locks.
type worker struct {
	job
	rdb, ledger *redis.Client
	svc         *stage6.Service // nil for other locks
	stage       stages.Stage    // of another lock
	probes      *probes
	send        func(any)
	attempts    atomic.Int64
}

// work runs a worker process. Its clients have go-redis's defaults, as in most programs.
func work(j job, orders <-chan string, send func(any)) (err error) {
	logging.Disable() // it would print a line for each fault
	w := &worker{job: j, rdb: realredis.NewClient(j.Redis), ledger: realredis.NewClient(j.Ledger), probes: newProbes(j.Clock), send: send}
	defer w.rdb.Close()
	defer w.ledger.Close()
	if j.Lock == finalLock {
		w.svc, err = stage6.NewService(w.rdb, stage6.WithWatchdogTimeout(lease))
		defer func() { err = errors.Join(err, w.svc.Close()) }()
	} else {
		w.stage, err = stages.Find(strings.TrimPrefix(j.Lock, "stage"))
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-orders; cancel() }()
	var lanes sync.WaitGroup
	for lane := range goroutines {
		random := rand.New(rand.NewPCG(j.Seed, uint64(j.Process)<<32|uint64(lane)))
		lanes.Go(func() {
			for ctx.Err() == nil {
				w.section(ctx, lane, random)
			}
		})
	}
	lanes.Wait()
	return nil
}

// report sends an event with the current time.
func (w *worker) report(e event) {
	e.At = w.Clock.now()
	e.Late = w.probes.longest(e.At)
	w.send(e)
}

// section acquires a lock, uses its ledger and unlocks.
func (w *worker) section(ctx context.Context, lane int, random *rand.Rand) {
	lock, id := random.IntN(locks), w.Process<<32|w.attempts.Add(1)
	w.report(event{Kind: asked, Hold: id, Lock: lock, Lane: lane})
	h, err := w.acquire(ctx, keyOf(lock), random)
	if err != nil {
		w.report(event{Kind: refused, Hold: id, Text: err.Error()})
		time.Sleep(scale(20*time.Millisecond, random.Float64()))
		return
	}
	w.report(event{Kind: acquired, Hold: id, Token: h.Token()})
	stop := context.AfterFunc(h.Context(), func() {
		if context.Cause(h.Context()) == stage6.ErrLost {
			w.report(event{Kind: lost, Hold: id})
		}
	})
	if w.svc != nil && random.IntN(10) == 0 {
		if inner, err := w.acquire(h.Context(), keyOf(lock), random); err == nil {
			_ = inner.Unlock() // the outer hold reports a loss
		}
		w.report(event{Kind: reentered, Hold: id})
	}
	w.increment(h, lock, id, random)
	stop()
	w.report(event{Kind: unlocking, Hold: id})
	w.report(event{Kind: outcome(h.Unlock()), Hold: id})
}

// increment reads the ledger, works, and writes the value back plus one. In half of the cases it
// first checks whether it still holds the lock; otherwise it may write late.
func (w *worker) increment(h held, lock int, id int64, random *rand.Rand) {
	value, ok := w.use(read, lock, id, h.Token(), 0)
	careful := random.IntN(2) == 0
	time.Sleep(workTime(random))
	if ok && !(careful && h.Context().Err() != nil) {
		w.use(wrote, lock, id, h.Token(), value+1)
	}
}

// workTime returns a duration that is usually short, and rarely longer than the lease.
func workTime(random *rand.Rand) time.Duration {
	x := random.Float64()
	switch n := random.IntN(1000); {
	case n < 5:
		return scale(lease, 1.3+1.5*x)
	case n < 50:
		return scale(lease, 0.2*x)
	}
	return scale(4*time.Millisecond, x)
}

// useLedger reads or writes a counter. KEYS: the counter. ARGV: the hold, its token (0 without
// fencing), and the new value or "". It returns the value, or nothing if it rejects a stale token.
// See next for the rule.
var useLedger = redis.NewScript(`
	local now = redis.call("HMGET", KEYS[1], "token", "hold", "value")
	local token, highest = tonumber(ARGV[2]), tonumber(now[1] or 0)
	if token < highest or (token > 0 and token == highest and now[2] ~= ARGV[1]) then return {} end
	redis.call("HSET", KEYS[1], "token", ARGV[2], "hold", ARGV[1])
	if ARGV[3] == "" then return {tonumber(now[3] or 0)} end
	redis.call("HSET", KEYS[1], "value", ARGV[3])
	return {tonumber(ARGV[3])}
`)

// use reads or writes the ledger of a lock, and reports it. It returns false if the ledger rejects
// the token.
func (w *worker) use(kind string, lock int, id, token, value int64) (int64, bool) {
	e := event{Kind: kind, Hold: id, Since: w.Clock.now()}
	var written any = value
	if kind == read {
		written = ""
	}
	values, err := useLedger.Run(context.Background(), w.ledger, []string{keyOf(lock)}, id, token, written).Int64Slice()
	if err != nil {
		panic(err) // nothing disturbs this server
	}
	if len(values) == 0 {
		e.Kind = rejected
	} else {
		e.Value = values[0]
	}
	w.report(e)
	return e.Value, len(values) > 0
}

func keyOf(lock int) string { return fmt.Sprintf("soak:%d", lock) }

// finalLock is used as in a program: with one service for each process.
const finalLock = "stage6"

// held is a hold of stage 6, or of an earlier stage.
type held interface {
	Context() context.Context // ends when the hold is lost
	Token() int64             // 0: the lock has no tokens
	Unlock() error
}

// acquire acquires a lock with TryLock, TryLockFor or Lock, at random. One in seven leases is not
// renewed.
func (w *worker) acquire(ctx context.Context, name string, random *rand.Rand) (held, error) {
	if w.svc == nil {
		l, err := w.stage.Subject.New(adapters.Using(w.rdb), name, lease)
		if err != nil {
			return nil, err
		}
		return earlier{l}, l.Lock(ctx)
	}
	var opts []stage6.LockOption
	if random.IntN(7) == 0 {
		opts = append(opts, stage6.Lease(lease))
	}
	m, err := w.svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	switch n := random.IntN(10); {
	case n == 0:
		return m.TryLock(ctx, opts...)
	case n <= 2:
		return m.TryLockFor(ctx, scale(200*time.Millisecond, random.Float64()), opts...)
	}
	return m.Lock(ctx, opts...)
}

// earlier is a hold of an earlier stage, which does not report a loss.
type earlier struct{ failures.Locker }

func (earlier) Context() context.Context { return context.Background() }
func (earlier) Token() int64             { return 0 }

// Unlock waits long enough for a stopped server to continue.
func (e earlier) Unlock() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return e.Locker.Unlock(ctx)
}

// outcome returns the event for the error of an Unlock. The error of the earlier stages for a lost
// hold ends with the same words.
func outcome(err error) string {
	switch {
	case err == nil:
		return unlocked
	case errors.Is(err, stage6.ErrLost), strings.HasSuffix(err.Error(), "lock is not held"):
		return notHeld
	}
	return unclear
}

func TestOutcomeOfAnUnlock(t *testing.T) {
	for want, errs := range map[string][]error{
		unlocked: {nil},
		notHeld:  {stage6.ErrLost, fmt.Errorf("%w: its key holds something else", stage6.ErrLost), errors.New("stage4: lock is not held")},
		unclear:  {context.DeadlineExceeded, stage6.ErrClosed, errors.New("stage6: unlock soak:1: the outcome is not known")},
	} {
		for _, err := range errs {
			require.Equal(t, want, outcome(err), err)
		}
	}
}
