package oracle_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/stages"
)

// byMutants are the monitors that no stage gives work to. Their trials are with the
// mutants: TestEachMonitorOfWaitingConvictsAMutant, and the same OfTheWatchdog.
var byMutants = []oracle.Monitor{
	oracle.LostWakeUp, oracle.BoundedWait, oracle.HoldCount, oracle.CommandCount,
	oracle.WrongExtend, oracle.Watchdog, oracle.RenewalCount,
	oracle.Lease, oracle.Waiting, oracle.Context, oracle.EarlyLoss,
}

// Each monitor is worth something only if there is a lock that it convicts and,
// in the same story, one that it acquits.
func TestEachMonitorConvictsOneStageAndAcquitsAnother(t *testing.T) {
	trials := map[oracle.Monitor]struct {
		failure  string
		convicts int // stage
		acquits  int
	}{
		oracle.WrongDelete: {"check-then-delete", 3, 4},
		oracle.Leak:        {"crash-before-expire", 1, 2},
		oracle.Deadlock:    {"crash-before-expire", 1, 2},
		oracle.LossNoticed: {"loss-hidden-at-unlock", 2, 3},
		oracle.Truth:       {"stranger-unlock", 2, 3},
		oracle.Exclusion:   {"check-then-delete", 3, 4},
		oracle.EndlessHold: {"renewed-for-ever", 5, 6},
		oracle.Polling:     {"idle-waiters", 5, 6},
	}
	for monitor, trial := range trials {
		t.Run(string(monitor), func(t *testing.T) {
			require.True(t, convicts(t, monitor, trial.failure, trial.convicts), "stage %d", trial.convicts)
			require.False(t, convicts(t, monitor, trial.failure, trial.acquits), "stage %d", trial.acquits)
		})
	}
	t.Run(string(oracle.Damage), func(t *testing.T) {
		require.True(t, convicts(t, oracle.Damage, "work-outlives-ttl", 4))
		require.False(t, convicts(t, oracle.Damage, "slow-grant", 4), "two are inside, but nobody writes")
	})
	for _, m := range oracle.Monitors() {
		if m != oracle.Damage && !slices.Contains(byMutants, m) {
			require.Contains(t, trials, m, "a monitor without a trial")
		}
	}
}

func convicts(t *testing.T, monitor oracle.Monitor, id string, stage int) bool {
	f, ok := failures.Find(id)
	require.True(t, ok, id)
	v := failures.Run(t, f, stages.MustFind(strconv.Itoa(stage)).Subject)
	require.NoError(t, v.Err)
	return oracle.Violates(v.Findings, monitor)
}
