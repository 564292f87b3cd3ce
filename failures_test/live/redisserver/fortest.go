package redisserver

import (
	"errors"
	"os"
	"testing"
)

// ForTest starts a redis-server that ends with the test. Where none is installed
// the test is skipped, but with CI=true it fails.
func ForTest(t testing.TB, config Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), config)
	Need(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Need ends a test that could not start its servers: it is skipped when the error
// is [ErrMissing], but with CI=true, and with any other error, it fails.
func Need(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
