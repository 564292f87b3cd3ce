// Package s13: from stage 5, one bug: the watchdog is told to stop, and not waited for, and it reads the field that is replaced. slices, maps, sort.
package s13

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type lease struct {
	id    string
	taken time.Time
	rank  int
}

type registry struct {
	sync.RWMutex
	byID map[string]lease
}

func (r *registry) add(l lease) {
	r.Lock()
	defer r.Unlock()
	if r.byID == nil {
		r.byID = map[string]lease{}
	}
	l.rank = len(r.byID) + 1
	r.byID[l.id] = l
}

func (r *registry) all() []lease {
	r.RLock()
	defer r.RUnlock()
	list := make([]lease, 0, len(r.byID))
	for _, id := range slices.Sorted(maps.Keys(r.byID)) {
		list = append(list, r.byID[id])
	}
	slices.SortFunc(list, func(a, b lease) int {
		return cmp.Or(a.taken.Compare(b.taken), cmp.Compare(a.rank, b.rank), strings.Compare(a.id, b.id))
	})
	return list
}

func (r *registry) remove(id string) bool {
	r.Lock()
	defer r.Unlock()
	_, ok := r.byID[id]
	delete(r.byID, id)
	return ok
}

type Mutex struct {
	rdb     redis.UniversalClient
	key     string
	ttl     time.Duration
	leases  registry
	stop    chan struct{}
	running bool
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	parts := strings.Split(name, ":")
	sort.Strings(parts)
	if i := slices.Index(parts, ""); i >= 0 {
		return nil, fmt.Errorf("part %d of %q is empty", i, name)
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		fmt.Fprintf(&b, "%s", p)
	}
	return &Mutex{rdb: rdb, key: b.String(), ttl: ttl, stop: make(chan struct{})}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	l := lease{id: uuid.NewString(), taken: time.Now()}
	ok, err := m.rdb.SetNX(ctx, m.key, l.id, m.ttl).Result()
	if err != nil || !ok {
		return false, err
	}
	m.leases.add(l)
	if !m.running {
		m.running = true
		go m.watch()
	}
	return true, nil
}

func (m *Mutex) watch() {
	ticks := time.Tick(m.ttl / 3)
	for {
		select {
		case <-m.stop:
			return
		case <-ticks:
		}
		all := m.leases.all()
		if len(all) == 0 {
			continue
		}
		newest := slices.MaxFunc(all, func(a, b lease) int { return a.taken.Compare(b.taken) })
		n, err := m.rdb.Eval(context.Background(), "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0",
			[]string{m.key}, newest.id, m.ttl.Milliseconds()).Int()
		if err == nil && n == 0 {
			m.leases.remove(newest.id)
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(40 * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	all := m.leases.all()
	slices.Reverse(all)
	if m.running {
		close(m.stop)
		m.stop, m.running = make(chan struct{}), false
	}
	if len(all) == 0 {
		return errors.New("nothing held")
	}
	id := all[0].id
	if !m.leases.remove(id) {
		return errors.New("nothing held")
	}
	n, err := m.rdb.Eval(ctx, "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0", []string{m.key}, id).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s: lost", id[:0])
	}
	return nil
}
