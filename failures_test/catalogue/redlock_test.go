package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// inTurn is a RedLock that asks its servers one after the other, as the Redis documentation describes
// it. votes is how many of them it needs.
type inTurn struct {
	nodes     []redis.UniversalClient
	lease     time.Duration
	votes     int
	confirmed bool // release only where the key was confirmed: a mistake
	value     string
	granted   []redis.UniversalClient
	random    *rand.Rand
}

var errLapsed = errors.New("the lock is no longer held")

var deleteOwn = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// newInTurn returns the constructor of an inTurn lock.
func newInTurn(votes int, confirmed bool) failures.Subject {
	return failures.Subject{Name: "in turn", Has: []catalogue.Feature{catalogue.Scripts},
		NewOver: adapters.Over(func(nodes []redis.UniversalClient, _ string, lease time.Duration, source rand.Source) (world.Locker, error) {
			return &inTurn{nodes: nodes, lease: lease, votes: votes, confirmed: confirmed, random: rand.New(source)}, nil
		})}
}

func (m *inTurn) TryLock(ctx context.Context) (bool, error) {
	m.value, m.granted = uuid.NewString(), nil
	began, answers := time.Now(), 0
	for _, node := range m.nodes {
		ctx, cancel := context.WithTimeout(ctx, m.lease/600)
		ok, err := node.SetNX(ctx, "lock", m.value, m.lease).Result()
		cancel()
		if ok {
			m.granted = append(m.granted, node)
		}
		if err == nil {
			answers++
		}
	}
	if len(m.granted) >= m.votes && time.Since(began) < m.lease-m.lease/100 {
		return true, nil
	}
	_, _ = m.release(ctx)
	if answers < len(m.nodes)/2+1 {
		return false, fmt.Errorf("%d servers answer: %w", answers, context.DeadlineExceeded)
	}
	return false, nil
}

func (m *inTurn) Lock(ctx context.Context) error {
	for {
		if held, _ := m.TryLock(ctx); held {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50*time.Millisecond + time.Duration(m.random.Int64N(int64(150*time.Millisecond)))):
		}
	}
}

func (m *inTurn) Unlock(ctx context.Context) error {
	freed, failed := m.release(ctx)
	switch {
	case freed >= m.votes:
		return nil
	case len(m.nodes)-freed-failed >= len(m.nodes)/2+1:
		return errLapsed
	}
	return fmt.Errorf("%d servers have freed the lock: %w", freed, context.DeadlineExceeded)
}

func (m *inTurn) release(ctx context.Context) (freed, failed int) {
	nodes := m.nodes
	if m.confirmed {
		nodes = m.granted
	}
	for _, node := range nodes {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.lease/600)
		n, err := deleteOwn.Run(ctx, node, []string{"lock"}, m.value).Int()
		cancel()
		if freed += n; err != nil {
			failed++
		}
	}
	return freed, failed
}

func TestServersMayBeAskedInTurn(t *testing.T) {
	failures.Check(t, newInTurn(3, false), failures.Expected("redlock"))
}

func TestStoriesOfRedLockBreakOnlyTheirOwnRules(t *testing.T) {
	for _, lock := range []failures.Subject{newInTurn(3, false), stages.RedLock.Subject} {
		for _, f := range catalogue.OfRedLock {
			for _, found := range failures.Run(t, f, lock).Findings {
				require.Contains(t, slices.Concat(f.Breaks, f.Given), found.Rule, "%s on %s: %s", f.ID, lock.Name, found.Text)
			}
		}
	}
}

func TestReleaseOfConfirmedKeysOnlyLeavesKeysBehind(t *testing.T) {
	f, _ := catalogue.Find("redlock-reply-lost")
	v := failures.Run(t, f, newInTurn(3, true))
	require.Equal(t, failures.Broken, v.Outcome)
	require.True(t, oracle.Violates(v.Findings, oracle.Leak))
}

// Most of the servers decide what is true: Unlock of two keys of five frees nothing, and a lock of two
// keys is none.
func TestTruthIsWhatMostServersSay(t *testing.T) {
	for votes, lies := range map[int]bool{3: false, 2: true} {
		f, _ := catalogue.Find("redlock-clock-no-spare")
		v := failures.Run(t, f, newInTurn(votes, false))
		require.Equal(t, lies, oracle.Violates(v.Findings, oracle.LossHidden), "%d votes: %v", votes, v.Findings)
		require.False(t, oracle.Violates(v.Findings, oracle.Truth), "%d votes: %v", votes, v.Findings)

		f.Script = func(w *world.World) {
			for n := range 3 {
				w.Server(n + 1).Stop()
			}
			w.Client("A").TryLock()
		}
		v = failures.Run(t, f, newInTurn(votes, false))
		require.Equal(t, lies, oracle.Violates(v.Findings, oracle.Truth), "%d votes: %v", votes, v.Findings)
	}
}
