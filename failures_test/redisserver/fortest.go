package redisserver

import (
	"context"
	"errors"
	"os"
)

// TB is what ForTest needs of a testing.TB.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Skip(...any)
	Fatal(...any)
	Error(...any)
}

// ForTest starts a redis-server that ends with the test. Where none is installed
// the test is skipped, but with CI=true it fails.
func ForTest(t TB, config Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), config)
	if errors.Is(err, ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
