package world_test

import (
	"bufio"
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// bare is a lock that writes to its own connection, without a driver.
type bare struct {
	conn    net.Conn
	replies *bufio.Reader
}

func newBare(p *world.Process, _ string, _ time.Duration) (world.Locker, error) {
	conn, err := p.Dial(context.Background(), p.Servers()-1)
	return &bare{conn, bufio.NewReader(conn)}, err
}

func (l *bare) TryLock(context.Context) (bool, error) {
	reply, err := l.send("*3\r\n$5\r\nSETNX\r\n$4\r\nlock\r\n$1\r\na\r\n")
	return reply == ":1\r\n", err
}

func (l *bare) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l *bare) Unlock(context.Context) error {
	_, err := l.send("*2\r\n$3\r\nDEL\r\n$4\r\nlock\r\n")
	return err
}

func (l *bare) Close() error { return l.conn.Close() }

func (l *bare) send(command string) (string, error) {
	if _, err := l.conn.Write([]byte(command)); err != nil {
		return "", err
	}
	return l.replies.ReadString('\n')
}

func TestLockNeedsNoDriver(t *testing.T) {
	tr := runWith(t, world.Config{New: newBare, Servers: 2}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		require.True(t, a.Lock().Held())
		require.False(t, b.TryLock().Held())
		a.Before(world.Write).Drop()
		a.Unlock()
		w.Patient(time.Hour)
	})
	require.Equal(t, "R2", events(tr, trace.Executed)[0].Server)
	returned := events(tr, trace.Returned)
	require.Equal(t, trace.ClaimUnknown, returned[len(returned)-1].Result.Claim)
}

func TestRunNeedsADriver(t *testing.T) {
	_, err := world.Run(t, world.Config{New: newBare}, func(w *world.World) { w.Client("A").StartRun("GET", "x") })
	require.ErrorContains(t, err, "A has no connections for [GET x]: its lock did not ask for a driver")
}

func TestCommandOfTheApplicationHasNoLineOfTheLock(t *testing.T) {
	tr := run(t, func(w *world.World) { w.Client("A").StartRun("GET", "x").Wait() })
	require.Zero(t, *events(tr, trace.Sent)[0].Source)
}

func TestDriverHasTheSettingsOfTheScenario(t *testing.T) {
	settings := world.Settings{Pace: time.Millisecond, Retries: 1}
	tr := runWith(t, world.Config{New: adapters.Plain(newLock), Client: settings}, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Write).Drop()
		a.TryLock()
	})
	var at []time.Duration
	for _, e := range events(tr, trace.Sent) {
		at = append(at, e.At)
	}
	require.Equal(t, []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, at, "the handshake of each connection is a command too")
}
