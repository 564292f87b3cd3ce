package live_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/redisserver"
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

func TestSameVerdictsAsTheWorld(t *testing.T) {
	s := servers(t, 12)
	var jobs []live.Job
	var world []failures.Outcome
	for _, stage := range stages.All {
		scripts, err := failures.Rehearse(t, stage.Subject)
		require.NoError(t, err)
		for _, f := range failures.All {
			jobs = append(jobs, live.Job{Failure: f, Subject: stage.Subject, Scripts: scripts})
			world = append(world, failures.Run(t, f, stage.Subject, scripts).Outcome)
		}
	}
	start := time.Now()
	verdicts := s.Play(jobs)
	fmt.Fprintf(t.Output(), "%d cells in %.1f s\n", len(verdicts), time.Since(start).Seconds())
	for i, v := range verdicts {
		switch {
		case errors.Is(v.Err, live.ErrBusy):
			fmt.Fprintf(t.Output(), "%s on %s was not played: %v\n", v.Failure.ID, v.Subject, v.Err)
		case v.Outcome == failures.Elsewhere:
			if v.Failure.Live == "" {
				t.Errorf("%s does not say in Live why it cannot run: %v", v.Failure.ID, v.Err)
			}
		case v.Outcome != world[i]:
			t.Errorf("%s on %s: %s in the world, %s on a real Redis: %s", v.Failure.ID, v.Subject, world[i], v.Outcome, v.Sentence())
			if v.Trace != nil {
				fmt.Fprintf(t.Output(), "at worst %v late\n%s\n", v.Trace.Late, timeline.Text(v.Trace, v.Findings, timeline.Options{}))
			}
		}
	}
}
