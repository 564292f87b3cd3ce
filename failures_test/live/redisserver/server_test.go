//go:build live

package redisserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

func TestServerAnswersOnSocketAndPort(t *testing.T) {
	s := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort})
	require.NoError(t, redisserver.Ping(t.Context(), s.Socket()))
	require.NoError(t, redisserver.Ping(t.Context(), s.Addr()))
	s.Kill()
	require.Error(t, redisserver.Ping(t.Context(), s.Addr()))
	require.NoError(t, s.Launch(t.Context()))
	require.NoError(t, redisserver.Ping(t.Context(), s.Addr()))
	require.NoError(t, s.Close())
	require.NoDirExists(t, filepath.Dir(s.Socket()))
}

func TestProgramIsNamedByTheEnvironment(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "valkey-server")
	t.Setenv(redisserver.Binary, missing)
	_, err := redisserver.Start(t.Context(), redisserver.Config{})
	require.ErrorContains(t, err, "LOCKKATA_REDIS_SERVER names no program that can be run: ")
	require.ErrorContains(t, err, missing)
	require.NotErrorIs(t, err, redisserver.ErrMissing, "no test is skipped")

	program, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(redisserver.Binary, program)
	path, err := redisserver.Path()
	require.NoError(t, err)
	require.Equal(t, program, path)
}

func TestStartErrorHasTheLog(t *testing.T) {
	_, err := redisserver.Start(t.Context(), redisserver.Config{Args: []string{"--no-such-option", "1"}})
	if errors.Is(err, redisserver.ErrMissing) {
		redisserver.Need(t, err)
	}
	require.ErrorContains(t, err, "no-such-option")
}
