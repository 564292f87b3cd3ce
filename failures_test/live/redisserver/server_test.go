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

func TestServerAnswersOnItsSocketAndItsPortUntilItIsKilled(t *testing.T) {
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

func TestServerThatKeepsItsDataHasItAfterTheNextLaunch(t *testing.T) {
	for _, c := range []struct {
		args []string
		left int64
	}{
		{nil, 0},
		{[]string{"--appendonly", "yes", "--appendfsync", "always"}, 1},
	} {
		s := redisserver.ForTest(t, redisserver.Config{Args: c.args})
		rdb := redisserver.NewClient(s.Socket())
		defer rdb.Close()
		require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err())
		s.Kill()
		require.NoError(t, s.Launch(t.Context()))
		require.Equal(t, c.left, rdb.Exists(t.Context(), "k").Val())
	}
}

func TestServerReadsTheFileThatItIsGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	require.NoError(t, os.WriteFile(file, []byte("sentinel monitor orders 127.0.0.1 1 2\n"), 0o600))
	s := redisserver.ForTest(t, redisserver.Config{File: file, Args: []string{"--sentinel"}})
	rdb := redisserver.NewClient(s.Socket())
	defer rdb.Close()
	masters, err := rdb.Info(t.Context(), "sentinel").Result()
	require.NoError(t, err)
	require.Contains(t, masters, "name=orders")
}

func TestServerThatDoesNotStartSaysWhatItLogged(t *testing.T) {
	_, err := redisserver.Start(t.Context(), redisserver.Config{Args: []string{"--no-such-option", "1"}})
	if errors.Is(err, redisserver.ErrMissing) {
		redisserver.Need(t, err)
	}
	require.ErrorContains(t, err, "no-such-option")
}
