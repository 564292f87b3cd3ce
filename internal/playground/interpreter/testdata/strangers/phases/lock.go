// Package phases is a lock that its author began with stage 5, and right: init, flags, a Cond, embedded pointers, options.
package phases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type flags uint

const (
	flagWatch flags = 1 << iota
	flagVerbose
	flagAll = flagWatch | flagVerbose
)

func (f flags) has(x flags) bool { return f&x != 0 }

type phase string

var phases = map[phase][]phase{}

func init() {
	phases["free"] = []phase{"held"}
	phases["held"] = append(phases["held"], "free", "closing")
}

func init() {
	phases["closing"] = []phase{"free"}
}

var host = func() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h[:0] + "host"
}()

type base struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

type Mutex struct {
	*base
	flags
	mu    sync.Mutex
	cond  *sync.Cond
	phase phase
	id    string
	busy  int
	stop  chan struct{}
	most  time.Duration
}

func WithMaxHold(d time.Duration) Option { return func(m *Mutex) { m.most = d } }

type Option func(*Mutex)

func WithoutWatchdog() Option {
	return func(m *Mutex) { m.flags &^= flagWatch }
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, options ...Option) (*Mutex, error) {
	if rdb == nil {
		return nil, errors.New("nil client")
	}
	m := &Mutex{base: &base{rdb, host + "/" + name, ttl}, flags: flagAll, phase: "free"}
	m.cond = sync.NewCond(&m.mu)
	for _, option := range options {
		option(m)
	}
	return m, nil
}

func (m *Mutex) move(to phase) error {
	for _, p := range phases[m.phase] {
		if p == to {
			m.phase = to
			return nil
		}
	}
	return fmt.Errorf("no way from %q to %s", m.phase, to)
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	id := uuid.Must(uuid.NewRandom()).String()
	cmd := redis.NewBoolCmd(ctx, "set", m.key, id, "px", m.ttl.Milliseconds(), "nx")
	if err := m.rdb.Process(ctx, cmd); err != nil && err != redis.Nil {
		return false, fmt.Errorf("try: %w", err)
	}
	if !cmd.Val() {
		return false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.move("held"); err != nil {
		m.phase = "held"
	}
	m.id = id
	if m.has(flagWatch) {
		m.stop = make(chan struct{})
		m.busy++
		go m.watch(m.stop, id)
	}
	return true, nil
}

var renewal struct {
	sync.Once
	script *redis.Script
}

func renewScript() *redis.Script {
	renewal.Do(func() {
		renewal.script = redis.NewScript("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0")
	})
	return renewal.script
}

func (m *Mutex) watch(stop <-chan struct{}, id string) {
	defer func() {
		m.mu.Lock()
		m.busy--
		m.mu.Unlock()
		m.cond.Broadcast()
	}()
	for began, ok := time.Now(), true; ok && (m.most == 0 || time.Since(began) < m.most); {
		select {
		case <-stop:
			return
		case <-time.After(m.ttl / 3):
			ctx, cancel := context.WithTimeout(context.Background(), m.ttl/3)
			n, err := renewScript().Run(ctx, m.rdb, []string{m.key}, id, m.ttl.Milliseconds()).Int()
			cancel()
			ok = err != nil || n == 1
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		if ok, err := m.TryLock(ctx); ok || err != nil {
			return err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (m *Mutex) Unlock(ctx context.Context) (err error) {
	m.mu.Lock()
	if m.id == "" {
		m.mu.Unlock()
		return errors.New("not held")
	}
	if err = m.move("closing"); err != nil {
		m.mu.Unlock()
		return
	}
	if m.stop != nil {
		close(m.stop)
		m.stop = nil
	}
	for m.busy > 0 {
		m.cond.Wait()
	}
	id := m.id
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil || errors.Is(err, errGone) {
			m.id = ""
			_ = m.move("free")
			return
		}
		m.phase = "held"
	}()
	n, err := m.rdb.Eval(ctx, "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0", []string{m.key}, id).Int()
	if err == nil && n < 1 {
		err = errGone
	}
	return err
}

var errGone = errors.New("gone")
