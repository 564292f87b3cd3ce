package locktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Run is the trace of a scenario.
type Run struct{ *trace.Trace }

// Play runs a scenario in the controlled world, where Redis already knows the lock's scripts. The lease is 30 s.
func (l Lock) Play(t *testing.T, scenario func(*world.World)) Run {
	t.Helper()
	subject, err := failures.DiscoverScripts(t, l.Subject)
	require.NoError(t, err)
	config := subject.Config()
	config.Lock, config.Lease = name, lease
	tr, err := world.Run(t, config, scenario)
	require.NoError(t, err)
	return Run{tr}
}

// Executed returns the commands of a client that Redis ran, in order.
func (r Run) Executed(client string) (events []trace.Event) {
	for _, e := range r.Events {
		if e.Kind == trace.Executed && e.Client == client {
			events = append(events, e)
		}
	}
	return events
}

// Commands returns the executed commands as text: "DEL lock:order:1001".
func (r Run) Commands(client string) (lines []string) {
	for _, e := range r.Executed(client) {
		lines = append(lines, e.Line())
	}
	return lines
}

// Timed returns the executed commands with their times: "10s DEL lock:order:1001".
func (r Run) Timed(client string) (lines []string) {
	for _, e := range r.Executed(client) {
		lines = append(lines, e.At.String()+" "+e.Line())
	}
	return lines
}

// Returned returns the event in which the client's last call of op returned.
func (r Run) Returned(t *testing.T, client, op string) (last trace.Event) {
	t.Helper()
	for _, e := range r.Events {
		if e.Kind == trace.Returned && e.Client == client && e.Op == op {
			last = e
		}
	}
	require.NotNil(t, last.Result, "%s of %s did not come back", op, client)
	return last
}
