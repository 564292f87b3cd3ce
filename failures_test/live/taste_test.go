package live_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/timeline"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// servers starts redis-server processes.
func servers(t *testing.T, count int) *live.Servers {
	t.Helper()
	s, err := live.Start(t.Context(), count)
	redisserver.Need(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// played plays failures on a lock.
func played(t *testing.T, s *live.Servers, subject failures.Subject, all ...catalogue.Failure) (verdicts []failures.Verdict) {
	t.Helper()
	require.NoError(t, s.Bench(subject).Play(t.Context(), failures.Tasks(all), func(c failures.Cell) { verdicts = append(verdicts, c.Verdict) }))
	return verdicts
}

// requireSame plays failures on a lock on real servers, and requires the same outcomes as in the world. What differs
// is played once more: the machine may have been busy. Runs that it was too busy for do not count.
func requireSame(t *testing.T, s *live.Servers, subject failures.Subject, all ...catalogue.Failure) {
	t.Helper()
	notTold := 0
	defer func() { require.LessOrEqual(t, notTold, len(all)/20, "too many failures were not tested") }()
	differs := func(v failures.Verdict) bool {
		return v.Outcome != failures.NotTested && v.Outcome != failures.Elsewhere && v.Outcome != failures.Run(t, v.Failure, subject).Outcome
	}
	for _, v := range played(t, s, subject, all...) {
		if differs(v) {
			fmt.Fprintf(t.Output(), "%s on %s, once more: %s\n", v.Failure.ID, v.Subject, v.Sentence())
			v = played(t, s, subject, v.Failure)[0]
		}
		switch {
		case errors.Is(v.Err, live.ErrBusy):
			fmt.Fprintf(t.Output(), "%s on %s was not played: %s\n", v.Failure.ID, v.Subject, v.Sentence())
		case v.Outcome == failures.NotTested: // in real time, not every fault finds its moment
			fmt.Fprintf(t.Output(), "%s on %s: %s\n", v.Failure.ID, v.Subject, v.Sentence())
			notTold++
		case v.Outcome == failures.Elsewhere:
			if v.Failure.Live == "" {
				t.Errorf("%s needs a reason in Live why it cannot run: %v", v.Failure.ID, v.Err)
			}
		case differs(v):
			t.Errorf("%s on %s, twice: %s on a real Redis, not as in the world: %s", v.Failure.ID, v.Subject, v.Outcome, v.Sentence())
			if v.Trace != nil {
				fmt.Fprintf(t.Output(), "at most %v late\n%s\n", v.Trace.Late, timeline.Text(v.Trace, v.Findings, timeline.Options{}))
			}
		}
	}
}

// ready returns a stage with the scripts that it uses.
func ready(t *testing.T, stage stages.Stage) failures.Subject {
	t.Helper()
	subject, err := failures.DiscoverScripts(t, stage.Subject)
	require.NoError(t, err)
	return subject
}

// One failure for each stage. The tag live runs all.
func TestTasteOfARealRedis(t *testing.T) {
	s := servers(t, 1)
	for n, id := range []string{
		"crash-before-expire", "delete-foreign", "check-then-delete", "work-outlives-ttl", "renew-partition", "renew-partition",
	} {
		f, ok := catalogue.Find(id)
		require.True(t, ok, id)
		requireSame(t, s, ready(t, stages.Public()[n]), f)
	}
}
