package stage6_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// log is what a lock has logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger writes to the log.
func (l *log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write adds lines.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// Count is how often the log contains some words.
func (l *log) Count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// Await waits until the log contains some words.
func (l *log) Await(t *testing.T, words string) {
	t.Helper()
	eventually(t, func() bool { return l.Count(words) > 0 }, "the log does not say: "+words)
}
