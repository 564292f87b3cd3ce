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
	// lease is that of a lock unless a test says otherwise: a hold that has to
	// survive gets over a machine that stands still for most of a second.
	lease = 4 * time.Second
	// short is the lease of a hold that is to be lost.
	short = time.Second / 2
	// endless is a lease that ends in no test: what happens within soon did not
	// wait for it.
	endless = 5 * time.Minute
	// soon is a generous bound for what takes milliseconds on an idle machine.
	soon = 20 * time.Second
)

// forever is the option of a lock whose lease does not end.
var forever = final.WithWatchdogTimeout(endless)

// lock takes a lock that is free, or held by the owner that ctx carries.
func lock(t *testing.T, m *final.Mutex, ctx context.Context) *final.Hold {
	t.Helper()
	hold, err := m.TryLock(ctx)
	require.NoError(t, err)
	return hold
}

// outcome is what a Lock on a goroutine of its own came to.
type outcome struct {
	hold *final.Hold
	err  error
}

// startLock waits for the lock on a goroutine of its own.
func startLock(t *testing.T, m *final.Mutex) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		hold, err := m.Lock(t.Context())
		done <- outcome{hold, err}
	}()
	return done
}

// receive is what comes soon.
func receive[T any](t *testing.T, from <-chan T, orElse string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(soon):
		require.FailNow(t, orElse)
	}
	return v
}

// requireHeld asks that a Lock gets its hold soon.
func requireHeld(t *testing.T, waiting chan outcome) *final.Hold {
	t.Helper()
	o := receive(t, waiting, "it still waits")
	require.NoError(t, o.err)
	return o.hold
}

// requireFree asks that the lock can be had soon, by another process.
func requireFree(s *server) { requireHeld(s.t, startLock(s.t, s.Mutex())) }

// requireLost asks that the holder is told soon, by its context and by Unlock, that its hold is lost.
func requireLost(t *testing.T, hold *final.Hold) {
	t.Helper()
	receive(t, hold.Context().Done(), "the holder is not told of its loss")
	require.Equal(t, final.ErrLost, context.Cause(hold.Context()))
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
}

// requireSurvives asks that a hold goes on for that long.
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

// log is what a lock has logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Option has a lock write to the log.
func (l *log) Option() final.Option { return final.WithLogger(slog.New(slog.NewTextHandler(l, nil))) }

// Write adds lines.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// Await waits until the log contains some words.
func (l *log) Await(t *testing.T, words string) {
	t.Helper()
	eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(l.text.String(), words)
	}, "the log does not say: "+words)
}
