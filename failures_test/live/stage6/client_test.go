//go:build live

package stage6_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
	final "lockkata/stage6_reentrant_pubsub"
)

// The lock uses the client's options. It acquires, renews, re-enters, waits and wakes with each of
// these.
func TestLockWorksWithAnyClientOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*redis.Options){
		"defaults":         func(*redis.Options) {},
		"no retries":       func(o *redis.Options) { o.MaxRetries = -1 },
		"many retries":     func(o *redis.Options) { o.MaxRetries = 20 },
		"RESP2":            func(o *redis.Options) { o.Protocol = 2 },
		"another database": func(o *redis.Options) { o.DB = 7 },
		"no timeouts":      func(o *redis.Options) { o.ReadTimeout, o.WriteTimeout = -1, -1 },
		"one connection":   func(o *redis.Options) { o.PoolSize = 1 },
		"short-lived idle": func(o *redis.Options) { o.ConnMaxIdleTime, o.ConnMaxLifetime = time.Millisecond, time.Millisecond },
		"impatient pool":   func(o *redis.Options) { o.PoolTimeout = 10 * time.Millisecond },
		"a client name":    func(o *redis.Options) { o.ClientName = "orders" },
		"no library name":  func(o *redis.Options) { o.DisableIdentity = true },
		"a password":       func(o *redis.Options) { o.Password = "right" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if name == "a password" {
				s.Set("requirepass", "right")
				s.admin = s.Client(change)
			}
			require.NoError(t, useEverything(t, s, s.Client(change)))
		})
	}
}

func TestPasswordErrorIsReturnedAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Set("requirepass", "right")
	for given, want := range map[string]string{
		"wrong": "WRONGPASS invalid username-password pair or user is disabled.",
		"":      "NOAUTH Authentication required.",
	} {
		m := mutexOn(t, s.Client(func(o *redis.Options) { o.Password = given }))
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "stage6: lock "+key+": "+want)
		_, err = m.Lock(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// The password changes while a lock is held. Open connections keep working. A new one is refused,
// and the holder learns that the lock is lost.
func TestHoldIsLostWhenItsPasswordIsNoLongerValid(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(short)), t.Context())
	s.Set("requirepass", "another")
	s.kill("normal")
	requireLost(t, hold)
}

// The error comes from the pool or from a connection.
func TestHoldAndWaiterEndWhenTheirClientIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t)
	rdb := s.Client()
	m := mutexOn(t, rdb, final.WithWatchdogTimeout(short))
	hold := lock(t, m, t.Context())
	waiting := startLock(t, m)
	s.AwaitWaiters(1)
	require.NoError(t, rdb.Close())
	requireLost(t, hold)
	err := receive(t, waiting, "it still waits").err
	require.True(t, errors.Is(err, redis.ErrClosed) || errors.Is(err, net.ErrClosed), "%v", err)
}

// Redis has reached maxclients. The waiter tries to subscribe again until it can.
func TestWaiterSubscribesWhenRedisAcceptsConnectionsAgain(t *testing.T) {
	t.Parallel()
	s, log := start(t), &log{}
	hold := lock(t, s.Mutex(forever), t.Context())
	next := s.Mutex(forever, log.Option())
	_, err := next.TryLock(t.Context())
	require.ErrorIs(t, err, final.ErrLocked)
	s.Set("maxclients", "3") // those of the admin client, the holder and the waiter
	waiting := startLock(t, next)
	log.Await(t, "waiting without messages")
	s.Set("maxclients", "100")
	s.AwaitWaiters(1)
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
}

// encrypted returns a server with a TLS port, its address, and the client's TLS config. The
// certificate is that of Go's httptest server. The test is skipped if the server was built without TLS.
func encrypted(t *testing.T) (s *server, addr string, client *tls.Config) {
	t.Helper()
	model := httptest.NewTLSServer(nil)
	defer model.Close()
	pair, dir := model.TLS.Certificates[0], t.TempDir()
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	for name, block := range map[string]pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600))
	}
	port, err := redisserver.FreePort()
	require.NoError(t, err)
	args := []string{"--tls-port", strconv.Itoa(port), "--tls-auth-clients", "no",
		"--tls-cert-file", filepath.Join(dir, "cert"), "--tls-key-file", filepath.Join(dir, "key")}
	first, err := redisserver.Start(t.Context(), redisserver.Config{Args: args})
	if err != nil && (strings.Contains(err.Error(), "Failed finding TLS support") || strings.Contains(err.Error(), "'tls-port")) {
		t.Skip("this redis-server was built without TLS: ", err)
	}
	redisserver.Need(t, err)
	require.NoError(t, first.Close())
	s = start(t, args...)
	roots := x509.NewCertPool()
	roots.AddCert(model.Certificate())
	return s, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), &tls.Config{RootCAs: roots}
}

func TestLockWorksOverTLSAndReportsCertificateErrors(t *testing.T) {
	t.Parallel()
	s, addr, config := encrypted(t)
	over := func(config *tls.Config) *redis.Client {
		return clientOf(t, addr, func(o *redis.Options) { o.TLSConfig = config })
	}
	require.NoError(t, useEverything(t, s, over(config)))
	_, err := mutexOn(t, over(&tls.Config{RootCAs: x509.NewCertPool()})).Lock(t.Context())
	require.ErrorContains(t, err, "certificate signed by unknown authority", "without waiting")
}
