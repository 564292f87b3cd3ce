// Package values is a lock that its author began with step 6.1, and right: an interface for a lock, values for holds, errors of its own.
package values

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type Code string

func (c Code) Error() string { return "values: " + strings.ToLower(string(c)) }

const (
	locked Code = "LOCKED"
	lost   Code = "LOST"
)

var (
	ErrLocked = locked
	ErrLost   = &LostError{Code: lost}
)

type LostError struct {
	Code
	After time.Duration
}

func (e *LostError) Unwrap() error { return e.Code }
func (e *LostError) Is(target error) bool {
	_, ok := target.(*LostError)
	return ok
}

type Lock interface {
	Lock(context.Context) (Hold, error)
	TryLock(context.Context) (Hold, error)
}

type Hold struct{ *inner }

type inner struct {
	lock    mutex
	id      string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	taken   time.Time
	until   atomic.Value
	over    chan struct{}
	release func(context.Context) (int64, error)
}

type mutex struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (Lock, error) {
	if ttl < 3*time.Millisecond {
		return nil, Code("TOO SHORT")
	}
	return mutex{rdb, name, ttl}, nil
}

const same = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call(unpack(%s)) end return 0`

var (
	freeing  = redis.NewScript(fmt.Sprintf(same, `{"DEL", KEYS[1]}`))
	renewing = redis.NewScript(fmt.Sprintf(same, `{"PEXPIRE", KEYS[1], ARGV[2]}`))
)

func (m mutex) TryLock(ctx context.Context) (h Hold, err error) {
	in := &inner{lock: m, id: uuid.NewString(), taken: time.Now(), over: make(chan struct{})}
	var got bool
	if got, err = m.rdb.SetNX(ctx, m.key, in.id, m.ttl).Result(); err != nil {
		return
	} else if !got {
		err = ErrLocked
		return
	}
	in.until.Store(in.taken.Add(m.ttl))
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	in.release = func(ctx context.Context) (int64, error) {
		return freeing.Run(ctx, m.rdb, []string{m.key}, in.id).Int64()
	}
	h.inner = in
	go h.watch()
	return
}

func (h Hold) left() time.Duration { return time.Until(h.until.Load().(time.Time)) }

func (h Hold) watch() {
	defer close(h.over)
	for every := h.lock.ttl / 3; h.ctx.Err() == nil; {
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(min(every, h.left())):
		}
		if h.left() <= 0 {
			h.cancel(&LostError{lost, time.Since(h.taken)})
			return
		}
		sent := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), h.left())
		switch n, err := renewing.Run(ctx, h.lock.rdb, []string{h.lock.key}, h.id, h.lock.ttl.Milliseconds()).Int(); {
		case err != nil:
			every = max(time.Millisecond, h.left()/4)
		case n == 0:
			h.cancel(ErrLost)
		default:
			h.until.Store(sent.Add(h.lock.ttl))
			every = h.lock.ttl / 3
		}
		cancel()
	}
}

func (m mutex) Lock(ctx context.Context) (Hold, error) {
	for {
		h, err := m.TryLock(ctx)
		if code := Code(""); !errors.As(err, &code) || code != locked {
			return h, err
		}
		select {
		case <-ctx.Done():
			return Hold{}, errors.Join(locked, ctx.Err())
		case <-time.After(130 * time.Millisecond):
		}
	}
}

func (h Hold) Context() context.Context { return h.ctx }

func (h Hold) Unlock(ctx context.Context) error {
	if h.inner == nil {
		return Code("NO HOLD")
	}
	if cause := context.Cause(h.ctx); errors.Is(cause, ErrLost) {
		return cause
	} else if cause != nil && errors.Is(cause, locked) {
		return cause
	}
	h.cancel(locked)
	<-h.over
	n, err := h.release(ctx)
	if err == nil && n == 0 {
		err = ErrLost
	}
	return err
}
