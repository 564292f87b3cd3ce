//go:build servers

package proxies_test

import (
	"bytes"
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/proxies"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
)

// TestMain requires that no goroutine and no process is left.
func TestMain(m *testing.M) {
	logging.Disable() // the proxies break connections
	flag.Parse()
	_ = flag.Set("test.parallel", "32") // the checks mostly wait
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := fleet.Running(); left > 0 {
			fmt.Fprintln(os.Stderr, "processes that still run:", left)
			code = 1
		}
		os.Exit(code)
	}))
}

//go:embed testdata
var configs embed.FS

// site is a proxy in front of redis-servers.
type site struct {
	t       *testing.T
	addr    string          // of the proxy
	spare   string          // another address, if the configuration uses it
	servers []*redis.Client // one for each server, past the proxy
	change  func(*redis.Options)
}

// start starts a proxy in front of that many redis-servers, which end with the test. In its
// arguments CONFIG is the path of its configuration, and SPARE another free port. Without the
// program the test is skipped; with CI=true it fails.
func start(t *testing.T, servers int, config, program string, args ...string) *site {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	s := &site{t: t, change: func(*redis.Options) {}}
	var ports []string
	for range servers {
		server := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort})
		_, port, err := net.SplitHostPort(server.Addr())
		require.NoError(t, err)
		ports = append(ports, port)
		admin := realredis.NewClient(server.Socket())
		t.Cleanup(func() { require.NoError(t, admin.Close()) })
		s.servers = append(s.servers, admin)
	}
	port, spare := freePort(t), freePort(t)
	s.addr, s.spare = net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("127.0.0.1", spare)
	file := filepath.Join(t.TempDir(), config)
	text, err := os.Create(file)
	require.NoError(t, err)
	defer text.Close()
	require.NoError(t, template.Must(template.ParseFS(configs, "testdata/"+config)).Execute(text, map[string]any{"Port": port, "Spare": spare, "Servers": ports}))

	for i := range args {
		args[i] = strings.NewReplacer("CONFIG", file, "SPARE", spare).Replace(args[i])
	}
	var said bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	process, err := fleet.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(func() {
		process.Kill()
		if t.Failed() {
			t.Log(program, said.String())
		}
	})
	require.NoError(t, redisserver.Until(t.Context(), func(ctx context.Context) error { return redisserver.Ping(ctx, s.addr) }))
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := redisserver.FreePort()
	require.NoError(t, err)
	return strconv.Itoa(port)
}

// client returns a new client of the proxy, with the options of docs/using.md.
func (s *site) client() *redis.Client {
	rdb := redis.NewClient(s.options())
	s.t.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it
	return rdb
}

func (s *site) options() *redis.Options {
	o := &redis.Options{
		Addr: s.addr, ContextTimeoutEnabled: true, DialTimeout: time.Second, ReadTimeout: time.Second,
		WriteTimeout: time.Second, ConnMaxIdleTime: time.Minute,
	}
	s.change(o)
	return o
}

// spreads reports whether the proxy spreads keys over several servers. None of those here then lets
// a client subscribe.
func (s *site) spreads() bool { return len(s.servers) > 1 }

// locks returns how many locks with such names each server has.
func (s *site) locks(pattern string) (counts []int) {
	for _, server := range s.servers {
		keys, err := server.Keys(s.t.Context(), "lock:{"+pattern+"}").Result()
		require.NoError(s.t, err)
		counts = append(counts, len(keys))
	}
	return counts
}

// startEnvoy starts an Envoy, which answers HELLO and SUBSCRIBE with errors. go-redis goes on with RESP2.
func startEnvoy(t *testing.T) *site {
	return start(t, 2, "envoy.yaml", "envoy", "--disable-hot-restart", "--concurrency", "1", "-l", "error", "-c", "CONFIG")
}

// startTwemproxy starts a twemproxy, which closes the connection on HELLO, CLIENT and SUBSCRIBE.
func startTwemproxy(t *testing.T) *site {
	s := start(t, 2, "twemproxy.yaml", "nutcracker", "-c", "CONFIG", "-s", "SPARE", "-a", "127.0.0.1", "-o", "/dev/stderr", "-v", "0")
	s.change = func(o *redis.Options) {
		o.Dialer, o.Protocol, o.DisableIdentity = proxies.DialWithoutHello, 2, true
	}
	return s
}

// startHAProxy starts an HAProxy, which closes connections that are idle for three seconds, and at the spare address for
// five.
func startHAProxy(t *testing.T) *site {
	return start(t, 1, "haproxy.cfg", "haproxy", "-db", "-q", "-f", "CONFIG")
}

func TestLocksBehindEnvoy(t *testing.T) {
	t.Parallel()
	startEnvoy(t).check()
}

func TestLocksBehindTwemproxy(t *testing.T) {
	t.Parallel()
	startTwemproxy(t).check()
}

func TestLocksBehindHAProxy(t *testing.T) {
	t.Parallel()
	startHAProxy(t).check()
}

func TestWithoutTheDialerNothingWorksBehindTwemproxy(t *testing.T) {
	t.Parallel()
	s := startTwemproxy(t)
	for protocol := range 4 {
		s.change = func(o *redis.Options) { o.Protocol, o.DisableIdentity = protocol, true }
		_, err := s.mutex("order:1001").TryLock(t.Context())
		require.ErrorIs(t, err, io.EOF)
		require.ErrorContains(t, err, "a proxy that knows no HELLO")
	}
}
