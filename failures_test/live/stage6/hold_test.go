//go:build live

package stage6_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

const (
	// lease is the default lease of the tests. A hold survives a pause of the machine of almost a
	// second.
	lease = 4 * time.Second
	// short is the lease of a hold that the test lets expire.
	short = time.Second / 2
	// endless is a lease that does not end in any test: what happens within soon did not wait for
	// it.
	endless = 5 * time.Minute
	// soon is a generous bound for something that takes milliseconds on an idle machine.
	soon = 20 * time.Second
)

// forever is the option for a lease that does not end in a test.
var forever = final.WithWatchdogTimeout(endless)

// lock acquires a lock that is free, or held by the owner in ctx.
func lock(t *testing.T, m *final.Mutex, ctx context.Context) *final.Hold {
	t.Helper()
	hold, err := m.TryLock(ctx)
	require.NoError(t, err)
	return hold
}

// outcome is the result of a Lock in another goroutine.
type outcome struct {
	hold *final.Hold
	err  error
}

// startLock calls Lock in a new goroutine.
func startLock(t *testing.T, m *final.Mutex) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		hold, err := m.Lock(t.Context())
		done <- outcome{hold, err}
	}()
	return done
}

// receive returns the next value of a channel, and fails if none arrives soon.
func receive[T any](t *testing.T, from <-chan T, orElse string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(soon):
		require.FailNow(t, orElse)
	}
	return v
}

// requireHeld requires that a Lock gets the lock soon.
func requireHeld(t *testing.T, waiting chan outcome) *final.Hold {
	t.Helper()
	o := receive(t, waiting, "it still waits")
	require.NoError(t, o.err)
	return o.hold
}

// requireFree requires that another process can acquire the lock soon.
func requireFree(s *server) { requireHeld(s.t, startLock(s.t, s.Mutex())) }

// requireLost requires that the context and Unlock soon report that the hold is lost.
func requireLost(t *testing.T, hold *final.Hold) {
	t.Helper()
	receive(t, hold.Context().Done(), "the holder is not told of its loss")
	require.Equal(t, final.ErrLost, context.Cause(hold.Context()))
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
}

// requireSurvives requires that a hold does not end within d.
func requireSurvives(t *testing.T, hold *final.Hold, d time.Duration) {
	t.Helper()
	select {
	case <-hold.Context().Done():
		require.FailNow(t, "the hold has ended", "%v", context.Cause(hold.Context()))
	case <-time.After(d):
	}
}

func eventually(t *testing.T, condition func() bool, message string) {
	t.Helper()
	require.Eventually(t, condition, soon, 2*time.Millisecond, message)
}

// log collects the lock's log.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Option returns the option to write to the log.
func (l *log) Option() final.Option { return final.WithLogger(slog.New(slog.NewTextHandler(l, nil))) }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// Await waits until the log contains words.
func (l *log) Await(t *testing.T, words string) {
	t.Helper()
	eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(l.text.String(), words)
	}, "the log does not contain: "+words)
}
