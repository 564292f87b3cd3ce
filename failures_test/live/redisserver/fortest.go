package redisserver

import (
	"errors"
	"os"
	"testing"
)

// ForTest starts a redis-server that ends with the test. If redis-server is not installed, the test
// is skipped; with CI=true it fails.
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

// Need ends a test if err is not nil. The test is skipped if err is [ErrMissing] and CI=true is not
// set; otherwise it fails.
func Need(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
