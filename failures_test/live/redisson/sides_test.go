//go:build live

package redisson_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

const (
	lease = 3 * time.Second        // the watchdog's timeout on both sides
	brief = 400 * time.Millisecond // the lease of lockBriefly
)

// side is one of the two libraries. owner returns a new owner of a lock: a context in Go, a thread
// in Redisson.
type side struct {
	name  string
	owner func(lock string) (execute, error)
}

// execute executes a command of Peer.java as an owner. Both sides have the same answers.
type execute func(ctx context.Context, command string) (answer string, err error)

// goSide returns the side of stage 6. Its client ends with the test.
func goSide(t *testing.T, rdb redis.UniversalClient) side {
	svc, err := stage6.NewService(rdb, stage6.WithRedissonNames(), stage6.WithWatchdogTimeout(lease))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(svc.Close(), rdb.Close())) })
	return side{"Go", func(lock string) (execute, error) {
		m, err := svc.Mutex(lock)
		return (&goOwner{mutex: m}).execute, err
	}}
}

// goOwner is an owner in Go: its holds, one for each re-entry.
type goOwner struct {
	mutex *stage6.Mutex
	holds []*stage6.Hold
}

func (o *goOwner) execute(ctx context.Context, command string) (string, error) {
	last := len(o.holds) - 1
	if last >= 0 {
		ctx = o.holds[last].Context()
	}
	var answer any = "ok"
	var hold *stage6.Hold
	var err error
	switch command {
	case "lock":
		hold, err = o.mutex.Lock(ctx)
	case "lockBriefly":
		hold, err = o.mutex.Lock(ctx, stage6.Lease(brief))
	case "tryLock":
		hold, err = o.mutex.TryLock(ctx)
		answer = err == nil
	case "unlock":
		if err = stage6.ErrLost; last >= 0 {
			err = o.holds[last].Unlock()
			o.holds = o.holds[:last]
		}
	case "forceUnlock":
		answer, err = o.mutex.ForceUnlock(ctx)
	case "holdCount":
		answer, err = o.mutex.HoldCount(ctx)
	case "isLocked":
		answer, err = o.mutex.IsLocked(ctx)
	case "isHeld":
		answer = o.mutex.IsHeld(ctx)
	}
	switch {
	case hold != nil:
		o.holds = append(o.holds, hold)
	case errors.Is(err, stage6.ErrLost):
		return "not held", nil
	case errors.Is(err, stage6.ErrLocked):
		err = nil
	}
	return fmt.Sprint(answer), err
}

// classpath returns the class path of Redisson and its dependencies from Maven.
var classpath = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", err
	}
	out, err := exec.Command("mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath",
		"-Dmdep.outputFile=/dev/stdout").Output()
	if err != nil {
		return "", fmt.Errorf("mvn: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return strings.Trim(string(out), "\r\n\x1b[0m"), nil // Maven resets the terminal's colours even here
})

// redissonSide returns the side of Redisson, in a Java process that ends with the test.
func redissonSide(t *testing.T, addr, mode string) side {
	path, err := classpath()
	require.NoError(t, err)
	java, err := fleet.Start(exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m",
		"-Dslf4j.internal.verbosity=ERROR", "-cp", path, "Peer.java", addr, strconv.FormatInt(lease.Milliseconds(), 10), mode))
	require.NoError(t, err)
	t.Cleanup(java.Kill)
	port, err := java.HearLine()
	require.NoError(t, err)
	return side{"Redisson", func(lock string) (execute, error) {
		conn, err := net.Dial("tcp", net.JoinHostPort("localhost", port))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = conn.Close() })
		answers := bufio.NewReader(conn)
		return func(ctx context.Context, command string) (string, error) {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			_, _ = fmt.Fprintln(conn, url.QueryEscape(lock), command) // its error is the answer's
			answer, err := answers.ReadString('\n')
			if reason, failed := strings.CutPrefix(answer, "error "); failed {
				err = errors.New(reason)
			}
			return strings.TrimSpace(answer), err
		}, nil
	}}
}
